import t from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

const SKILL = '---\nname: sell\ndescription: First sentence. Second one.\n---\nSteps.\n'

const FILES = {
  'tools/a.ts': toolModule('a', "scopes: ['x']"),
  'prompts/p.md': '---\ndescription: First sentence. Second one.\n---\nHello.\n',
  'resources/a.md': '# a'
}

t.test('lists what the catalog offers, also behind scopes', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const { out, exitCode } = await runProgram(['list', catalog])
  t.equal(exitCode, 0)
  t.equal(out, 'Tools\n  a  A tool.\n\nPrompts\n  p  First sentence.\n\nResources\n  file:///a.md\n\n' +
    'Resource templates\n  file:///{+path}  A file by its path; a directory reads as the files in it.\n')
})

t.test('--json prints the entries as clients get them', async (t) => {
  const catalog = await writeCatalog(t, FILES)
  const { out } = await runProgram(['list', '--json'], { TRIVET_CATALOG: catalog })
  const lists = JSON.parse(out)
  t.match(lists.tools, [{ name: 'a', description: 'A tool.', inputSchema: { type: 'object' } }])
  t.strictSame(Object.keys(lists), ['tools', 'prompts', 'resources', 'resourceTemplates', 'skills'])
})

t.test('an empty catalog', async (t) => {
  t.equal((await runProgram(['list', await writeCatalog(t, {})])).out, 'The catalog is empty.\n')
})

t.test('lists skills, and their files as resources', async (t) => {
  const catalog = await writeCatalog(t, { 'skills/sell/SKILL.md': SKILL })
  t.equal((await runProgram(['list', catalog])).out,
    'Resources\n  skill://sell/SKILL.md  First sentence.\n\nSkills\n  skill://sell/SKILL.md  First sentence.\n')
})

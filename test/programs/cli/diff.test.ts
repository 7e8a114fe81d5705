// `trivet diff`: what breaks clients, and what does not.

import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { OfferChange } from '../../../src/catalog/contracts/changes.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { runProgram } from '../../helpers/program.ts'

interface ToolParts {
  readonly input?: object
  readonly output?: object
  readonly more?: object
}

const tool = ({ input = {}, output, more = {} }: ToolParts = {}): Files => {
  const definition = {
    name: 'a',
    description: 'A tool.',
    inputSchema: { type: 'object', ...input },
    ...output !== undefined && { outputSchema: { type: 'object', ...output } },
    ...more
  }
  const text = JSON.stringify(definition).replace(/}$/, ', run: () => ({}) }')
  return { 'tools/a.ts': `import { defineTool } from 'trivet'\nexport default defineTool(${text})\n` }
}

async function diff (t: Test, old: Files, next: Files, ...args: string[]) {
  return await runProgram(['diff', await writeCatalog(t, old), await writeCatalog(t, next), ...args])
}

/** The changes, each with whether it breaks clients. */
async function changesOf (t: Test, old: Files, next: Files): Promise<Array<[boolean, string]>> {
  const { out, err, exitCode } = await diff(t, old, next, '--json')
  const { changes } = JSON.parse(out)
  t.equal(err, '')
  t.equal(exitCode, changes.some(({ isBreaking }: OfferChange) => isBreaking) ? 1 : 0)
  return changes.map(({ isBreaking, kind, key, rule }: OfferChange) => [isBreaking, `${kind} ${key} ${rule}`])
}

const text = { type: 'string' }
const skill = (text: string, more: Files = {}): Files => ({
  'skills/s/SKILL.md': `---\nname: s\ndescription: S.\n---\n${text}\n`, ...more
})
const input = (properties: object, more: object = {}) => tool({ input: { properties, ...more } })
const output = (properties: object, more: object = {}) => tool({ output: { properties, ...more } })
const withReference = input({ it: { $ref: '#/$defs/it' } }, { $defs: { it: text } })
const closed = { additionalProperties: false }
/** A tool that imports a module. */
const withLib = (more: object, text: string): Files => ({
  'tools/a.ts': `import '../lib/a.ts'\n${tool({ more })['tools/a.ts']}`, 'lib/a.ts': `// ${text}\n`
})
const tasks = (more: object, text: string) => withLib({ task: 'allowed', ...more }, text)
const SCREEN: Files = {
  'server.yaml': 'name: s', 'apps/x/index.html': '<!doctype html><html lang="en"><title>X</title></html>'
}

const CASES: ReadonlyArray<{
  readonly claim: string
  readonly old: Files
  readonly next: Files
  readonly breaks?: readonly string[]
  readonly fine?: readonly string[]
}> = [
  { claim: 'nothing but texts', old: tool(), next: tool({ more: { description: 'More.', title: 'A' } }) },
  {
    claim: 'only the form in which lists have schemas',
    old: { ...withReference, 'server.yaml': 'name: s\nschemas: as-written' },
    next: { ...withReference, 'server.yaml': 'name: s' }
  },
  {
    claim: 'a part that a schema refers to',
    old: withReference,
    next: input({ it: { $ref: '#/$defs/it' } }, { $defs: { it: { type: 'string', maxLength: 4 } } }),
    breaks: ['tool a argument it: has the narrower limit maxLength 4']
  },
  { claim: 'a tool that is gone', old: tool(), next: {}, breaks: ['tool a is gone'] },
  { claim: 'a skill that is gone', old: skill('a'), next: {}, breaks: ['skill skill://s/SKILL.md is gone'] },
  { claim: 'a new skill', old: {}, next: skill('a'), fine: ['skill skill://s/SKILL.md is new'] },
  {
    claim: 'files of a skill',
    old: skill('a', { 'skills/s/gone.md': '' }),
    next: skill('b'),
    fine: ['skill skill://s/SKILL.md has other files, or other contents']
  },
  {
    claim: 'a skill that newly needs a scope',
    old: skill('a'),
    next: { 'skills/s/SKILL.md': '---\nname: s\ndescription: S.\nmetadata:\n  trivet/scopes: b\n---\na\n' },
    breaks: ['skill skill://s/SKILL.md newly needs the scope b'],
    fine: ['skill skill://s/SKILL.md has other files, or other contents']
  },
  {
    claim: 'a screen that a tool showed',
    old: { ...tool({ more: { ui: 'x' } }), ...SCREEN },
    next: tool(),
    breaks: ['resource ui://s/x is gone'],
    fine: ['tool a no longer has a screen']
  },
  {
    claim: 'a screen that no tool showed',
    old: { ...tool(), ...SCREEN },
    next: tool(),
    fine: ['resource ui://s/x is gone']
  },
  {
    claim: 'another screen',
    old: tool(),
    next: { ...tool({ more: { ui: 'x' } }), ...SCREEN },
    fine: ['tool a has the screen ui://s/x', 'resource ui://s/x is new']
  },
  {
    claim: 'fewer callers of a tool',
    old: tool(),
    next: tool({ more: { visibility: ['app'] } }),
    breaks: ['tool a is no longer for models']
  },
  {
    claim: 'a tool that screens may no longer call',
    old: tool({ more: { visibility: ['model', 'app'] } }),
    next: tool({ more: { visibility: ['model'] } }),
    breaks: ['tool a is no longer for screens']
  },
  { claim: 'a new tool', old: {}, next: tool(), fine: ['tool a is new'] },
  {
    claim: 'a new argument that may be missing',
    old: input({}),
    next: input({ x: text }),
    fine: ['tool a has a new argument x']
  },
  {
    claim: 'an argument that is newly required',
    old: input({ x: text }),
    next: input({ x: text }, { required: ['x'] }),
    breaks: ['tool a arguments: x is newly required']
  },
  {
    claim: 'an argument that is gone',
    old: input({ x: text }, closed),
    next: input({}, closed),
    breaks: ['tool a no longer has the argument x']
  },
  {
    claim: 'an argument of fewer types',
    old: input({ x: { type: ['string', 'number'] } }),
    next: input({ x: { type: 'integer' } }),
    breaks: ['tool a argument x: no longer accepts string, number']
  },
  {
    claim: 'an argument of more types',
    old: input({ x: { type: 'integer' } }),
    next: input({ x: { type: ['number', 'null'] } })
  },
  {
    claim: 'fewer and more values',
    old: input({ x: { enum: ['a', 'b'] }, y: { enum: ['a'] } }),
    next: input({ x: { enum: ['a'] }, y: { enum: ['b', 'a'] } }),
    breaks: ['tool a argument x: no longer accepts "b"']
  },
  {
    claim: 'narrower and wider limits, also within lists and objects',
    old: input({ x: { items: { properties: { y: { maximum: 5, minimum: 1 } } } } }),
    next: input({ x: { items: { properties: { y: { maximum: 4, minimum: 0 } } } } }),
    breaks: ['tool a argument x[].y: has the narrower limit maximum 4']
  },
  {
    claim: 'a pattern that changed',
    old: input({ x: { type: 'string', pattern: '^a' } }),
    next: input({ x: { type: 'string', pattern: '^b' } }),
    breaks: ['tool a argument x: pattern has changed, and cannot be compared']
  },
  {
    claim: 'a pattern that is gone',
    old: input({ x: { ...text, pattern: '^a' } }),
    next: input({ x: text })
  },
  {
    claim: 'other arguments are refused',
    old: input({ x: text }),
    next: input({ x: text }, closed),
    breaks: ['tool a arguments: no longer accepts members that the schema does not name']
  },
  {
    claim: 'results that may lack a member, or have another one or another type',
    old: output({ x: text, y: text }, { ...closed, required: ['x'] }),
    next: output({ x: { type: ['string', 'null'] }, y: text, z: text }, closed),
    breaks: [
      'tool a results: x may be missing', 'tool a result x: may now have null',
      'tool a results: may now have z'
    ]
  },
  {
    claim: 'results that promise more',
    old: output({ x: text }),
    next: output({ x: { ...text, maxLength: 5 }, y: text }, { required: ['x'] })
  },
  {
    claim: 'no structured results',
    old: output({ x: text }),
    next: tool(),
    breaks: ['tool a no longer has structured results']
  },
  {
    claim: 'scopes',
    old: tool({ more: { scopes: ['a', 'b'] } }),
    next: tool({ more: { scopes: ['b', 'c'] } }),
    breaks: ['tool a newly needs the scope c'],
    fine: ['tool a no longer needs the scope a']
  },
  {
    claim: 'the code of a tool with tasks',
    old: tasks({}, 'one'),
    next: tasks({}, 'two'),
    fine: ['tool a has other code: running tasks go on in it']
  },
  {
    claim: 'the code of a tool whose tasks must not go on',
    old: tasks({}, 'one'),
    next: tasks({ onDeploy: 'fail' }, 'one'),
    fine: ["tool a has other code: running tasks fail, by onDeploy: 'fail'"]
  },
  {
    claim: 'a tool that no longer begins tasks',
    old: tasks({}, 'one'),
    next: tool(),
    fine: ['tool a no longer begins tasks, and has other code: running tasks go on in it']
  },
  { claim: 'the same code of a tool with tasks', old: tasks({}, 'one'), next: tasks({}, 'one') },
  { claim: 'the code of a tool without tasks', old: withLib({}, 'one'), next: withLib({}, 'two') },
  { claim: 'a tool that newly begins tasks', old: tool(), next: tool({ more: { task: 'allowed' } }) },
  {
    claim: 'prompts',
    old: { 'prompts/p.md': '---\narguments:\n  - name: x\n  - name: y\n---\n{{x}}{{y}}\n' },
    next: { 'prompts/p.md': '---\narguments: [{ name: x, required: true }, { name: z }]\n---\n{{x}}{{z}}\n' },
    breaks: ['prompt p argument x is newly required', 'prompt p no longer has the argument y'],
    fine: ['prompt p has a new argument z']
  },
  {
    claim: 'resources',
    old: { 'resources/a.md': 'a', 'resources/b.md': 'b' },
    next: { 'resources/b.md': 'other', 'resources/c.md': 'c' },
    breaks: ['resource file:///a.md is gone'],
    fine: ['resource file:///c.md is new']
  }
]

for (const { claim, old, next, breaks = [], fine = [] } of CASES) {
  t.test(claim, async (t) => {
    const expected = [...breaks.map((rule) => [true, rule]), ...fine.map((rule) => [false, rule])]
    t.strictSame((await changesOf(t, old, next)).toSorted(), expected.toSorted())
  })
}

t.test('for people: what breaks comes first, with its file', async (t) => {
  const { out, exitCode } = await diff(t, { ...tool(), 'resources/a.md': 'a' }, { 'resources/b.md': 'b' })
  t.equal(exitCode, 1)
  t.match(out.split('\n'), [
    'breaks tools/a.ts:2: tool a is gone', 'breaks resources/a.md: resource file:///a.md is gone',
    'fine   resources/b.md: resource file:///b.md is new', '3 changes, 2 of them break clients'
  ])
})

t.test('a catalog that does not load', async (t) => {
  const { err, exitCode } = await diff(t, tool(), { 'tools/a.ts': 'export default 1 +\n' })
  t.equal(exitCode, 1)
  t.match(err, /^The catalog does not load:\n {2}tools\/a\.ts: line \d/)
})

t.test('a service is compared by its lists', async (t) => {
  const url = await listen(await buildApp(t, input({ x: text })))
  const next = await writeCatalog(t, input({ x: text }, { required: ['x'] }))
  const { out, exitCode } = await runProgram(['diff', url, next])
  t.equal(exitCode, 1)
  t.match(out, /^breaks tools\/a\.ts:2: tool a arguments: x is newly required\n1 change, /)
  const gone = await runProgram(['diff', url, await writeCatalog(t, {})])
  t.match(gone.out, `breaks ${url}: tool a is gone`)
})

t.test('the tool of the service itself is no change', async (t) => {
  const files = { 'tools/a.ts': toolModule('a', "task: 'allowed'") }
  const url = await listen(await buildApp(t, files))
  const folder = await writeCatalog(t, files)
  for (const args of [[url, folder], [folder, url], [url, url]]) {
    const { out, exitCode } = await runProgram(['diff', ...args])
    t.strictSame([out, exitCode], ['0 changes, 0 of them break clients\n', 0])
  }
})

t.test('the skills of a service are compared by their entries', async (t) => {
  const url = await listen(await buildApp(t, skill('a')))
  const { out } = await runProgram(['diff', url, await writeCatalog(t, skill('b'))])
  t.match(out, /^fine .* skill skill:\/\/s\/SKILL.md has other files, or other contents\n1 change, 0 of them/)
})

t.test('a revision of git is compared, also with packages of the working tree', async (t) => {
  const repository = await writeCatalog(t, {
    'shop/catalog/tools/a.ts': "import { defineTool } from 'trivet'\nimport { name } from 'found'\n" +
      "import { run } from '../../../lib/run.ts'\n" +
      "export default defineTool({ name, description: 'A.', run })\n",
    'lib/run.ts': "export const run = () => 'ok'\n",
    '.gitignore': 'node_modules\n'
  })
  const packages = join(repository, 'shop/node_modules/found')
  await mkdir(packages, { recursive: true })
  await writeFile(join(packages, 'package.json'), '{ "type": "module", "exports": "./a.js" }')
  await writeFile(join(packages, 'a.js'), "export const name = 'found'\n")
  const git = (...args: string[]) => execFileSync('git', [
    '-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args
  ], { stdio: 'pipe' })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'one')
  git('tag', 'v1')
  const catalog = join(repository, 'shop/catalog')
  await rm(join(catalog, 'tools/a.ts'))
  await writeFile(join(catalog, 'tools/b.ts'), toolModule('b'))
  git('add', 'shop/catalog/tools/b.ts')
  const status = String(git('status', '--short'))
  const before = new Set(await readdir(tmpdir()))
  // Without arguments the last commit is compared, and without a second one the working tree.
  const compared = [['v1', catalog], ['HEAD', catalog], [`v1:${catalog}`, catalog], ['HEAD'], []]
  for (const args of compared) {
    const { out, err, exitCode } = await runProgram(['diff', ...args], { TRIVET_CATALOG: catalog })
    t.strictSame([out, err, exitCode], [
      'breaks tools/a.ts: tool found is gone\nfine   tools/b.ts:2: tool b is new\n' +
        '2 changes, 1 of them breaks clients\n',
      '',
      1
    ], args.join(' '))
  }
  t.equal(String(git('status', '--short')), status, 'the working tree and its index stay as they are')
  const isNew = (name: string) => name.startsWith('trivet-revision-') && !before.has(name)
  const left = (await readdir(tmpdir())).filter(isNew)
  t.strictSame(left, [], 'nothing is left behind')
  const wrong = async (old: string) => await runProgram(['diff', old, catalog], { TRIVET_CATALOG: catalog })
  t.match(await wrong('v2'), { exitCode: 2, err: /^v2 is no folder, no URL and no revision of git: / })
  t.match(await wrong('v1:nowhere'), { exitCode: 2, err: /no revision of git|has no folder/ })
  t.match(await wrong(`v1:${join(repository, 'other')}`), { exitCode: 2, err: /^v1 has no folder other; name one/ })
})

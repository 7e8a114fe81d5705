// The skills below skills/: which folders are skills, what clients get of them, and what keeps a catalog from
// loading. https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx

import { createHash } from 'node:crypto'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import type { Problem } from '../../../src/catalog/compiled/problem.ts'
import { buildApp } from '../../helpers/app.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { problemsOf, readCatalog } from '../../helpers/load-catalog.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { send, type Message } from '../../helpers/request.ts'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const main = (name: string, more = '') => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nSteps.\n`

const FILES: Files = {
  'skills/late-orders/SKILL.md': main('late-orders'),
  'skills/late-orders/README.md': 'Of the skill.',
  'skills/late-orders/references/ä b?.md': '\uFEFF# Ü\r\n',
  'skills/late-orders/assets/logo.png': PNG,
  'skills/late-orders/scripts/check.test.py': 'print()',
  'skills/late-orders/scripts/tool.ts': 'export default 1',
  'skills/acme/billing/refunds/SKILL.md': main('refunds'),
  'skills/outer/SKILL.md': main('outer'),
  'skills/outer/inner/SKILL.md': main('inner'),
  'skills/outer/inner/a.txt': 'a'
}

async function skillsOf (files: Files, t: Test): Promise<Message[]> {
  const app = await buildApp(t, files)
  return (await send(app, { method: 'skills/list' })).response.result.skills
}

t.test('a skill lists all of its files, with the digest and the size of what a read returns', async (t) => {
  const app = await buildApp(t, FILES)
  const { skills } = (await send(app, { method: 'skills/list' })).response.result
  const [late] = skills.filter(({ uri }: Message) => uri === 'skill://late-orders/SKILL.md')
  t.strictSame(late.resources.map(({ uri }: Message) => uri), [
    'README.md', 'SKILL.md', 'assets/logo.png', 'references/%C3%A4%20b%3F.md', 'scripts/check.test.py',
    'scripts/tool.ts'
  ].map((path) => `skill://late-orders/${path}`))
  for (const { uri, digest, size } of late.resources) {
    const { response } = await send(app, { method: 'resources/read', params: { uri } })
    const [{ text, blob }] = response.result.contents
    const bytes = text === undefined ? Buffer.from(blob, 'base64') : Buffer.from(text)
    t.equal(bytes.length, size, uri)
    t.equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, digest, uri)
  }
})

t.test('the path of a skill is that of its folder, with the folders that sort skills', async (t) => {
  const skills = await skillsOf(FILES, t)
  t.strictSame(skills.map(({ uri, frontmatter }) => [uri, frontmatter.name]), [
    ['skill://acme/billing/refunds/SKILL.md', 'refunds'], ['skill://late-orders/SKILL.md', 'late-orders'],
    ['skill://outer/SKILL.md', 'outer'], ['skill://outer/inner/SKILL.md', 'inner']
  ])
})

t.test('the files of a skill within another one are files of both', async (t) => {
  const skills = await skillsOf(FILES, t)
  const filesOf = (path: string) => skills.find(({ uri }) => uri === `skill://${path}/SKILL.md`)?.resources
  t.equal(filesOf('outer').length, 3)
  t.strictSame(filesOf('inner'), undefined)
  t.strictSame(filesOf('outer/inner'), filesOf('outer').slice(1))
})

t.test('each file is a resource once: SKILL.md with the name and description of its skill', async (t) => {
  const app = await buildApp(t, FILES)
  const { resources } = (await send(app, { method: 'resources/list' })).response.result
  t.strictSame(
    resources.filter(({ uri }: Message) => uri.startsWith('skill://outer') || /\.(?:png|py)$/.test(uri)), [
      { uri: 'skill://late-orders/assets/logo.png', name: 'logo.png', mimeType: 'image/png', size: 8 },
      {
        uri: 'skill://late-orders/scripts/check.test.py', name: 'check.test.py', mimeType: 'text/x-python', size: 7
      },
      {
        uri: 'skill://outer/SKILL.md',
        name: 'outer',
        description: 'About outer.',
        mimeType: 'text/markdown',
        size: 53
      },
      {
        uri: 'skill://outer/inner/SKILL.md',
        name: 'inner',
        description: 'About inner.',
        mimeType: 'text/markdown',
        size: 53
      },
      { uri: 'skill://outer/inner/a.txt', name: 'a.txt', mimeType: 'text/plain', size: 1 }
    ]
  )
})

t.test('a directory of a skill reads as the names in it', async (t) => {
  const app = await buildApp(t, FILES)
  const read = async (uri: string) =>
    (await send(app, { method: 'resources/read', params: { uri } })).response
  const uri = 'skill://late-orders'
  t.strictSame((await read(uri)).result.contents, [
    { uri, mimeType: 'inode/directory', text: 'README.md\nSKILL.md\nassets/\nreferences/\nscripts/\n' }
  ])
  t.match(await read('skill://outer/inner'), { result: { contents: [{ text: 'SKILL.md\na.txt\n' }] } })
  t.match(await read('skill://acme'), { error: { code: -32602 } }, 'is in no skill')
})

t.test('the front matter is that of the file, with fields that no specification has', async (t) => {
  const more = `license: Apache-2.0
compatibility: Needs the tools of this service
allowed-tools: [search_books, Bash(git:*)]
metadata:
  version: "2.10"
  on: 'no'
future:
  list: [1, 2.5, true, null, no, 2026-01-02]
  text: &a |
    two
    lines
  again: *a
`
  const [{ frontmatter }] = await skillsOf({ 'skills/a/SKILL.md': main('a', more) }, t)
  t.strictSame(frontmatter, {
    name: 'a',
    description: 'About a.',
    license: 'Apache-2.0',
    compatibility: 'Needs the tools of this service',
    'allowed-tools': ['search_books', 'Bash(git:*)'],
    metadata: { version: '2.10', on: 'no' },
    future: { list: [1, 2.5, true, null, 'no', '2026-01-02'], text: 'two\nlines\n', again: 'two\nlines\n' }
  })
})

t.test('replicas with the same files answer with the same bytes', async (t) => {
  const bytes = async () => {
    const app = await buildApp(t, { 'server.yaml': 'name: s', ...FILES })
    const answers = ['skills/list', 'resources/list', 'server/discover'].map(
      async (method) => (await send(app, { method })).response
    )
    return JSON.stringify(await Promise.all(answers))
  }
  t.equal(await bytes(), await bytes())
})

t.test('files that are in no skill are passed over, and so are files that change in use', async (t) => {
  const root = await writeCatalog(t, {
    ...FILES,
    'skills/README.md': 'For people.',
    'skills/acme/README.md': 'For people.',
    'skills/acme/notes.txt': 'lost',
    'skills/late-orders/.hidden': 'h',
    'skills/late-orders/cache.sqlite': 's',
    'skills/late-orders/logs/a.log': 'l'
  })
  await symlink('/etc/hostname', join(root, 'skills/late-orders/host'))
  const { contents, snapshot } = await readCatalog(root)
  t.strictSame(contents.passedOver.map(({ file }) => file).toSorted(), [
    'skills/acme/notes.txt', 'skills/late-orders/cache.sqlite', 'skills/late-orders/host',
    'skills/late-orders/logs/a.log'
  ])
  const notes = contents.passedOver.find(({ file }) => file.endsWith('notes.txt'))
  t.match(notes, { reason: /no folder around it/ })
  const skill = snapshot.primitives.skills.find(({ key }) => key.includes('late-orders'))
  t.equal(skill?.files.length, 6)
})

t.test('a link to another skill is followed within skills/', async (t) => {
  const root = await writeCatalog(t, FILES)
  await symlink('../late-orders/references', join(root, 'skills/outer/references'))
  const app = await createApp({ ...QUIET, catalog: root })
  t.teardown(async () => await app.close())
  const uri = 'skill://outer/references/%C3%A4%20b%3F.md'
  const { response } = await send(app, { method: 'resources/read', params: { uri } })
  t.match(response.result.contents, [{ uri }])
})

const many = (count: number): Files => Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`skills/a/f${index}.txt`, ''])
)

const toolFile = `import { defineTool } from 'trivet'
export default defineTool({ name: 'roll', inputSchema: { type: 'object' }, run: () => 'six' })`

/** The problems of the skills that are left out. */
async function leftOutOf (t: Test, files: Files): Promise<readonly Problem[]> {
  const { contents, snapshot } = await readCatalog(await writeCatalog(t, files))
  if (contents.leftOut.length > 0) t.strictSame(snapshot.primitives.skills, [])
  return contents.leftOut
}

t.test('breaks of a rule leave a skill out, and name file and rule', async (t) => {
  const skill = (text: string, folder = 'a'): Files => ({ [`skills/${folder}/SKILL.md`]: text })
  const metadata = (line: string) => skill(main('a', `metadata:\n  ${line}\n`))
  const refused: ReadonlyArray<readonly [string, Files, place: string, rule: RegExp]> = [
    ['no front matter', skill('# A\n'), '', /^must begin with front matter/],
    ['text before it', skill(`\n${main('a')}`), '', /^must begin with front matter/],
    ['front matter without an end', skill('---\nname: a\n'), '', /never ends/],
    ['no YAML', skill('---\nname: a\n  b: [\n---\n'), 'line 2', /./],
    ['no object', skill('---\n- a\n---\n'), '', /^must begin with front matter/],
    ['no name', skill('---\ndescription: d\n---\n'), '', /name: is required/],
    ['a name that is no text', skill('---\nname: 5\ndescription: d\n---\n'), '', /name: must be string/],
    ['a name in capitals', skill(main('A'), 'A'), 'name', /a-z, 0-9 and -/],
    [
      'a name of 900 characters', skill(main('x'.repeat(900))), 'name', /got "x{100}…"$/
    ],
    ['a name of 65 characters', skill(main('x'.repeat(65)), 'x'.repeat(65)), 'name', /1 to 64/],
    ['a hyphen at the beginning', skill(main('-a'), '-a'), 'name', /no - at an end/],
    ['a hyphen at the end', skill(main('a-'), 'a-'), 'name', /no - at an end/],
    ['two hyphens in a row', skill(main('a--b'), 'a--b'), 'name', /no - at an end/],
    ['a name that is not that of the folder', skill(main('b')), 'name', /name of the folder, "a", got "b"/],
    ['no description', skill('---\nname: a\n---\n'), '', /description: is required/],
    ['a blank description', skill('---\nname: a\ndescription: " "\n---\n'), '', /description: must match/],
    ['a long description', skill(main('a', 'x: 1\n').replace('About a', 'x'.repeat(1024))), '', /more than 1024/],
    ['a long compatibility', skill(main('a', `compatibility: ${'x'.repeat(501)}\n`)), '', /more than 500/],
    ['a license that is no text', skill(main('a', 'license: [MIT]\n')), '', /license: must be string/],
    ['tools that are no texts', skill(main('a', 'allowed-tools: { a: b }\n')), '', /allowed-tools/],
    ['metadata with a number', metadata('version: 1.0'), '', /metadata.version: must be string, got 1/],
    ['what JSON does not have', skill(main('a', 'limit: .inf\n')), '', /JSON does not have/],
    ['long front matter', skill(main('a', `x: ${'y'.repeat(65_536)}\n`)), '', /65536 characters/],
    ['no UTF-8', { 'skills/a/SKILL.md': Uint8Array.from([0x2d, 0xff]) }, '', /UTF-8/],
    ['SKILL.md in skills/', { 'skills/SKILL.md': main('skills') }, '', /in a folder with the name/],
    ['no scopes', metadata('trivet/scopes: " "'), '', /metadata.trivet\/scopes: must match pattern/],
    ['scopes as a list', metadata('trivet/scopes: [a]'), '', /metadata.trivet\/scopes: must be string/],
    ['an answer without scopes', metadata('trivet/whenMissing: hide'), '', /whenMissing: needs trivet\/scopes/],
    ['an unknown answer', metadata('trivet/scopes: a\n  trivet/whenMissing: ask'), '', /"hide","challenge"/],
    ['a setting that is misspelt', metadata('trivet/scope: a'), 'metadata.trivet/scope', /settings are trivet\/scopes/],
    ['a setting without prefix', metadata('scopes: a'), 'metadata.scopes', /write trivet\/scopes/],
    ['a setting outside metadata', skill(main('a', 'scopes: a\n')), 'scopes', /in metadata/]
  ]
  for (const [what, files, place, rule] of refused) {
    const [problem, ...others] = await leftOutOf(t, files)
    t.match(problem, { file: Object.keys(files)[0], place, rule }, what)
    t.strictSame(others, [], what)
  }
})

t.test('limits that hosts need not go beyond are problems, up to them all is well', async (t) => {
  const all: Files = { 'skills/a/SKILL.md': main('a'), ...many(511) }
  t.strictSame(await leftOutOf(t, all), [])
  t.match(await leftOutOf(t, { ...all, 'skills/a/one-more.txt': '' }), [
    { file: 'skills/a/SKILL.md', place: '', rule: /may have 512 files, got 513/ }
  ])
  const half = Buffer.alloc(8_388_608, 'x')
  const skillsOf = async (files: Files) => {
    const catalog = await writeCatalog(t, files)
    const app = await createApp({ ...QUIET, catalog, maxResourceBytes: 8_388_608 })
    t.teardown(async () => await app.close())
    return (await send(app, { method: 'skills/list' })).response.result?.skills.length
  }
  const large = { 'skills/b/SKILL.md': main('b'), 'skills/a/SKILL.md': main('a'), 'skills/a/1.txt': half }
  t.equal(await skillsOf({ ...large, 'skills/a/2.txt': half.subarray(main('a').length) }), 2)
  t.equal(await skillsOf({ ...large, 'skills/a/2.txt': half }), 1)
})

t.test('a file that nobody could read is a problem', async (t) => {
  const large = Buffer.alloc(1_000_001)
  t.match(await leftOutOf(t, { 'skills/a/SKILL.md': main('a'), 'skills/a/b.bin': large }), [
    { file: 'skills/a/b.bin', rule: /1000001 bytes, .* 1000000 \(TRIVET_MAX_RESOURCE_BYTES\)/ }
  ])
})

t.test('a skill within another one leaves it to that one who sees it', async (t) => {
  const guarded = (name: string) => main(name, 'metadata:\n  trivet/scopes: staff\n')
  t.match(await leftOutOf(t, { 'skills/a/SKILL.md': main('a'), 'skills/a/b/SKILL.md': guarded('b') }), [
    { file: 'skills/a/b/SKILL.md', place: 'metadata', rule: /the skill a has these files too/ }
  ])
  const root = await writeCatalog(t, { 'skills/a/SKILL.md': guarded('a'), 'skills/a/b/SKILL.md': main('b') })
  const { primitives: { skills, resources } } = (await readCatalog(root)).snapshot
  t.strictSame([...skills, ...resources].map(({ scopes }) => scopes), Array(6).fill(['staff']))
})

t.test('a name that is not quite SKILL.md is a problem', async (t) => {
  t.match(await leftOutOf(t, { 'skills/a/Skill.md': main('a') }), [
    { file: 'skills/a/Skill.md', rule: /^must be named SKILL.md$/ }
  ])
})

t.test('a skill that is left out keeps nothing else from loading', async (t) => {
  const long = main('a').replace('About a', 'x'.repeat(1025))
  const files: Files = {
    'tools/roll.ts': toolFile,
    'skills/a/SKILL.md': long,
    'skills/a/b/SKILL.md': main('b'),
    'skills/outer/SKILL.md': main('outer', 'metadata:\n  trivet/scopes: staff\n'),
    'skills/outer/inner/deep/SKILL.md': '---\nname: [\n---\n',
    'skills/outer/inner/deep/secret.txt': 'secret',
    'skills/plain/SKILL.md': main('plain'),
    'skills/plain/more/notes.txt': 'n'
  }
  const app = await buildApp(t, files)
  const { tools } = (await send(app, { method: 'tools/list' })).response.result
  t.match(tools, [{ name: 'roll' }])
  const { skills } = (await send(app, { method: 'skills/list' })).response.result
  t.strictSame(skills.map(({ uri }: Message) => uri), ['skill://plain/SKILL.md'])
  const { resources } = (await send(app, { method: 'resources/list' })).response.result
  t.strictSame(
    resources.map(({ uri }: Message) => uri), ['skill://plain/SKILL.md', 'skill://plain/more/notes.txt'],
    'no file of a skill around or within a broken one is a resource: the broken one may have said who sees it'
  )
  const uris = ['skill://a', 'skill://a/b', 'skill://a/b/SKILL.md', 'skill://outer/inner/deep/secret.txt']
  for (const uri of uris) {
    for (const method of ['resources/read', 'skills/get', 'resources/directory/read']) {
      const { response } = await send(app, { method, params: { uri } })
      t.match(response, { error: { code: -32602 } }, `${method} ${uri}`)
    }
  }
  t.match(await problemsOf(t, { ...files, 'prompts/p.md': '' }), [
    { file: 'skills/a/SKILL.md' }, { file: 'skills/outer/inner/deep/SKILL.md', place: 'line 2' },
    { file: 'prompts/p.md' }
  ], 'a catalog that does not load reports them too')
})

t.test('a reserved key of metadata is sent as it is, and named by advice', async (t) => {
  const metadata = { 'io.modelcontextprotocol/x': 'y', own: 'z' }
  const text = main('a', `metadata: ${JSON.stringify(metadata)}\n`)
  const { contents } = await readCatalog(await writeCatalog(t, { 'skills/a/SKILL.md': text }))
  t.match(contents.skills, [{ definition: { frontmatter: { metadata } } }])
  t.strictSame(contents.foreignKeys, [
    { file: 'skills/a/SKILL.md', keys: ['metadata.io.modelcontextprotocol/x'] }
  ])
})

t.test('replicas leave out the same skills, and have the same digest', async (t) => {
  const files = { 'skills/a/SKILL.md': main('b'), 'skills/b/SKILL.md': main('b'), 'tools/roll.ts': toolFile }
  const loads = await Promise.all([1, 2].map(async () => await readCatalog(await writeCatalog(t, files))))
  const [first, second] = loads.map(({ contents: { leftOut, digest, skills } }) => (
    { leftOut, digest, uris: skills.map(({ definition }) => definition.uri) }
  ))
  t.strictSame(first, second)
  t.strictSame(first?.uris, ['skill://b/SKILL.md'])
})

t.test('a resource of the author cannot have the URI of a file of a skill', async (t) => {
  t.match(await problemsOf(t, {
    'skills/a/SKILL.md': main('a'),
    'resources/a.resource.ts': `import { defineResource } from 'trivet'
      export default defineResource({ uri: 'skill://a/SKILL.md', name: 'a', read: () => '' })`
  }), [{ rule: /"skill:\/\/a\/SKILL.md" is already defined/ }])
})

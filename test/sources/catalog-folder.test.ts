import { basename, relative } from 'node:path'
import { symlink } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { createApp } from '../../src/app.ts'
import * as trivet from '../../src/index.ts'
import { openCatalogFolder } from '../../src/sources/catalog-folder.ts'
import { buildApp } from '../helpers/app.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../helpers/catalog-folder.ts'
import { problemsOf, loadSnapshot } from '../helpers/load-catalog.ts'
import { send, type Message } from '../helpers/request.ts'

const keysOf = (offered: ReadonlyArray<{ key: string }>): string[] => offered.map(({ key }) => key)

/** A module's text, with everything there is to import. */
const moduleOf =
  (text: string): string =>
    `import { definePrompt, defineResource, defineResourceTemplate, defineTool } from 'trivet'\n${text}\n`

t.test('finds tools, prompts, resources and templates in their folders, at any depth', async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': toolModule('a'),
    'tools/b.mts': toolModule('b'),
    'tools/deep/down/c.js': toolModule('c'),
    'tools/d.mjs': toolModule('d'),
    'tools/types.d.ts': 'export interface A {}',
    'tools/README.md': 'No tool.',
    'tools/.hidden.ts': toolModule('hidden'),
    'tools/node_modules/x/index.js': 'throw new Error("never loaded")',
    'prompts/p.md': 'Say p.',
    'prompts/sub/q.ts': moduleOf("export default definePrompt({ name: 'q', render: () => 'Say q.' })"),
    'resources/r.resource.ts': moduleOf(
      "export default defineResource({ uri: 'x://r', name: 'r', read: () => 'r' })"
    ),
    'resources/t.resource.mjs': moduleOf(
      "export const t = defineResourceTemplate({ uriTemplate: 'x://t/{id}', name: 't', read: () => 't' })"
    ),
    'resources/plain.ts': 'throw new Error("a plain file is not run")',
    'lib/shared.ts': 'throw new Error("not loaded by itself")'
  })
  const { tools, prompts, resources, templates } = (await loadSnapshot(root)).primitives
  t.strictSame(keysOf(tools), ['a', 'b', 'c', 'd'])
  t.strictSame(keysOf(prompts), ['p', 'q'])
  t.strictSame(keysOf(resources), ['file:///plain.ts', 'x://r'])
  t.strictSame(keysOf(templates), ['file:///{+path}', 'x://t/{id}'])
})

t.test('takes a default export, named exports and lists of definitions, each definition once', async (t) => {
  const tool = (name: string) => `defineTool({ name: '${name}', run: () => '${name}' })`
  const root = await writeCatalog(t, {
    'tools/many.ts': moduleOf(`export default ${tool('first')}
      export const second = ${tool('second')}
      export const list = [${tool('third')}, ${tool('fourth')}]
      export { second as again }
      export const helper = () => 1`)
  })
  t.strictSame(keysOf((await loadSnapshot(root)).primitives.tools), ['first', 'fourth', 'second', 'third'])
})

t.test('serves a folder that has nothing in it, under the folder\'s name', async (t) => {
  const root = await writeCatalog(t, {})
  const { server, primitives } = await loadSnapshot(root)
  t.match(server, {
    info: { name: basename(root), version: '0.0.0' }, instructions: undefined, listTtlMs: 60_000, readTtlMs: 0
  })
  t.strictSame([primitives.tools, primitives.prompts, primitives.listed, primitives.templates], [
    [], [], [], []
  ])
})

t.test('follows links within the folder, and none that lead out of it or around in it', async (t) => {
  const outside = await writeCatalog(t, { 'evil.ts': toolModule('evil') })
  const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a'), 'tools/.data/b.ts': toolModule('b') })
  await symlink('.data/b.ts', `${root}/tools/b.ts`)
  await symlink('.', `${root}/tools/loop`)
  await symlink(`${outside}/evil.ts`, `${root}/tools/evil.ts`)
  await symlink(outside, `${root}/tools/more`)
  await symlink('nowhere.ts', `${root}/tools/dangling.ts`)
  t.strictSame(keysOf((await loadSnapshot(root)).primitives.tools), ['a', 'b'])
})

t.test('takes a path relative to where the process runs', async (t) => {
  const root = await writeCatalog(t, {
    'tools/a.ts': `import { loads } from './b.ts'\n${toolModule('a', "title: loads + ' ' + import.meta.dirname")}`,
    'tools/b.ts': `globalThis.bLoads = (globalThis.bLoads ?? 0) + 1\nexport const loads = globalThis.bLoads\n${toolModule('b', 'title: loads + import.meta.filename')}`
  })
  const { server, primitives } = await loadSnapshot(relative(process.cwd(), root))
  t.match(
    primitives.tools.map(({ json }) => json), [`"title":"1 ${root}/tools"`, `"title":"1${root}/tools/b.ts"`],
    'each file is evaluated once'
  )
  t.equal(server.info.name, basename(root))
})

t.test('takes every setting from server.yaml', async (t) => {
  const app = await buildApp(t, {
    'server.yaml': `name: shop
title: The shop
version: 1.2.3
description: Sells books.
websiteUrl: https://shop.example
icons:
  - src: https://shop.example/icon.png
    mimeType: image/png
    sizes: [48x48, any]
    theme: dark
instructions: |
  Search before you order.
cache:
  listTtlMs: 1234
  readTtlMs: 5678
pageSize: 2
`,
    'tools/all.ts': moduleOf(
      "export const all = ['a', 'b', 'c'].map((name) => defineTool({ name, run: () => name }))"
    ),
    'resources/a.txt': 'a'
  })
  const { result: discovered } = (await send(app, { method: 'server/discover' })).response
  t.match(discovered, { instructions: 'Search before you order.\n', ttlMs: 1234 })
  const { result: list } = (await send(app, { method: 'tools/list' })).response
  t.match(list, {
    ttlMs: 1234,
    tools: [{ name: 'a' }, { name: 'b' }],
    nextCursor: String,
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'shop', version: '1.2.3' } }
  })
  const { result: read } = (
    await send(app, { method: 'resources/read', params: { uri: 'file:///a.txt' } })
  ).response
  t.equal(read.ttlMs, 5678)
  const root = await writeCatalog(t, {
    'server.yaml': 'title: T\nversion: "2"\ndescription: D\nwebsiteUrl: https://a.example\nicons: [{ src: ' +
      '"data:image/png;base64,AAAA" }]'
  })
  t.match((await loadSnapshot(root)).server.info, {
    name: basename(root), title: 'T', version: '2', description: 'D', websiteUrl: 'https://a.example', icons: [{ src: 'data:image/png;base64,AAAA' }]
  })
})

t.test('complains of what is wrong in server.yaml', async (t) => {
  const cases: ReadonlyArray<readonly [string, string, RegExp]> = [
    ['name: shop\nnmae: shop', '', /^nmae: is not known here/],
    ['name: shop\n\nicons: [', 'line 3', /^Flow sequence .* end with a \]$/],
    ['name: ""\nversion: true', '', /name: .*version: /],
    ['cache: { ttlMs: 5 }', '', /^cache\.ttlMs: is not known here/],
    ['cache: { listTtlMs: -1 }', '', /^cache\.listTtlMs: must be >= 0/],
    ['pageSize: 0', '', /^pageSize: must be >= 1/],
    ['websiteUrl: the shop', '', /^websiteUrl: .*uri/],
    ['icons: [{ src: "javascript:alert(1)" }]', '', /^icons\[0\]\.src: /],
    ['- a list', '', /must be object/]
  ]
  for (const [yaml, place, rule] of cases) {
    t.match(await problemsOf(t, { 'server.yaml': yaml }), [{ file: 'server.yaml', place, rule }], yaml)
  }
  t.strictSame(await problemsOf(t, { 'server.yaml': '# nothing but a comment' }), [])
})

t.test('complains of a file in tools/ that is none, and says where it belongs', async (t) => {
  t.match(await problemsOf(t, { 'tools/rates.ts': 'export const rates = new Map()' }), [{
    file: 'tools/rates.ts',
    place: '',
    rule: 'exports nothing made by defineTool; code that tools share ' +
      'belongs in another folder, such as lib/'
  }])
})

t.test('complains of a definition in the wrong folder', async (t) => {
  const prompt = moduleOf("export const hello = definePrompt({ name: 'p', render: () => '' })")
  t.match(await problemsOf(t, {
    'tools/p.ts': prompt, 'prompts/t.ts': toolModule('t'), 'resources/t.resource.ts': toolModule('t')
  }), [
    { file: 'tools/p.ts', place: 'hello', rule: 'must be made by defineTool in this folder' },
    { file: 'prompts/t.ts', place: '', rule: 'must be made by definePrompt in this folder' },
    {
      file: 'resources/t.resource.ts',
      place: '',
      rule: 'must be made by defineResource or defineResourceTemplate in this folder'
    }
  ])
})

t.test('reports every problem at once, each with file, place and rule', async (t) => {
  const files: Files = {
    'server.yaml': 'nmae: shop',
    'tools/broken.ts': 'const a: number = 1\nconst b = (\n',
    'tools/lists.ts': moduleOf(
      "export const all = [defineTool({ name: 'ok', run: () => '' }), defineTool({ name: 'not ok', run: () " +
        "=> '' })]"
    ),
    'tools/schema.ts': toolModule(
      'schema', "inputSchema: { type: 'object', properties: { a: { minLength: '1' } } }"
    ),
    'prompts/p.md': '---\ndescription: [\n---\nText',
    'resources/r.resource.ts': moduleOf(
      "export const r = defineResource({ uri: 'no uri', name: 'r', read: () => '' })"
    )
  }
  const problems = await problemsOf(t, files)
  t.match(problems, [
    { file: 'server.yaml', place: '', rule: /nmae/ },
    { file: 'tools/broken.ts', place: 'line 3', rule: 'Unexpected end of file' },
    { file: 'prompts/p.md', place: /line \d/, rule: String },
    { file: 'tools/lists.ts', place: 'all[1]', rule: /^name: must match pattern/ },
    { file: 'tools/schema.ts', place: 'inputSchema', rule: '/properties/a/minLength must be integer' },
    { file: 'resources/r.resource.ts', place: 'r', rule: /^uri: / }
  ])
  t.equal(problems.length, 6)
  const root = await writeCatalog(t, files)
  await t.rejects(createApp({ catalog: root, watch: 'off', logLevel: 'silent', stateUrl: 'memory:' }), {
    name: 'CatalogError', message: /server\.yaml: nmae[^]*\n {2}tools\/lists\.ts: all\[1\]: name: /
  })
})

t.test('says that the folder is missing, whether it watches or not', async (t) => {
  for (const watch of ['on', 'poll', 'off'] as const) {
    await t.rejects(
      createApp({ catalog: '/no/such/folder', watch, logLevel: 'silent', stateUrl: 'memory:' }),
      { name: 'CatalogError', message: /is not a folder; set TRIVET_CATALOG/ }, watch
    )
  }
})

t.test('refuses what could not be served, when it loads (110, 112, 115, 116–120, 150, 161, 189)', async (
  t
) => {
  const tool = (options: string, name = 't') => ({ 'tools/t.ts': toolModule(name, options) })
  const property = (schema: string) => tool(`inputSchema: { type: 'object', properties: { a: ${schema} } }`)
  const prompt = (options: string) => ({
    'prompts/p.ts': moduleOf(`export default definePrompt({ ${options} })`)
  })
  const resource = (options: string) => ({
    'resources/r.resource.ts': moduleOf(`export default defineResource({ name: 'r', ${options} })`)
  })
  const template = (options: string) => ({
    'resources/r.resource.ts': moduleOf(
      `export default defineResourceTemplate({ name: 'r', read: () => '', ${options} })`
    )
  })
  const refused: ReadonlyArray<readonly [string, Files, string, RegExp]> = [
    ['a name with a space (112)', tool('', 'a b'), '', /^name: must match pattern/],
    ['a name of 129 characters (112)', tool('', 'x'.repeat(129)), '', /^name: /],
    [
      'two tools of one name (112)', { 'tools/a.ts': toolModule('same'), 'tools/b.ts': toolModule('same') },
      '', /^the tool "same" is already defined in tools\/a\.ts$/
    ],
    [
      'two prompts of one name',
      { 'prompts/a.md': '---\nname: p\n---\na', 'prompts/b.md': '---\nname: p\n---\nb' }, '',
      /^the prompt "p" is already defined in prompts\/a\.md$/
    ],
    [
      'a resource that is a plain file as well',
      { ...resource("uri: 'file:///a.txt', read: () => ''"), 'resources/a.txt': '' }, '',
      /^the resource "file:\/\/\/a.txt" is already defined/
    ],
    [
      'two templates of one form', { ...template("uriTemplate: 'file:///{+path}'"), 'resources/a.txt': '' },
      '', /^the resource template .* is already defined/
    ],
    [
      'a schema that is none (115)', property("{ type: 'string', enum: 'a' }"), 'inputSchema',
      /^\/properties\/a\/enum must be array$/
    ],
    [
      'an output schema that is none (115)', tool("outputSchema: { required: 'a' }"), 'outputSchema',
      /required/
    ],
    [
      'a pattern that is none (115)', property("{ type: 'string', pattern: '(' }"), 'inputSchema',
      /pattern|regular expression/i
    ],
    [
      'a root that is no object (110)', tool("inputSchema: { type: 'array' }"), 'inputSchema',
      /must have "type": "object" at its root, got "array"/
    ],
    [
      'a root without a type (110)', tool('inputSchema: { properties: {} }'), 'inputSchema',
      /at its root, got undefined/
    ],
    [
      'a schema that is no schema', tool("inputSchema: 'string'"), 'inputSchema',
      /must be a JSON Schema object/
    ],
    [
      'a reference to the network', property("{ $ref: 'https://example.com/schema.json' }"), 'inputSchema',
      /references are never fetched/
    ],
    [
      'a reference to nothing', property("{ $ref: '#/$defs/nothing' }"), 'inputSchema',
      /can't resolve reference/
    ],
    [
      'an unknown dialect',
      tool("inputSchema: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }"),
      'inputSchema', /is not supported; use JSON Schema 2020-12/
    ],
    [
      'an asynchronous schema', tool("inputSchema: { $async: true, type: 'object' }"), 'inputSchema',
      /\$async is not allowed/
    ],
    [
      'a schema that is too large', tool("inputSchema: { type: 'object', description: 'x'.repeat(70_000) }"),
      'inputSchema', /bytes of JSON; the limit is 65536/
    ],
    [
      'a schema with too many keys',
      tool(
        "inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 501 }, (_, i) " +
          "=> ['k' + i, true])) }"
      ),
      'inputSchema', /has 501 keys/
    ],
    [
      'a schema that is too deep',
      tool(
        "inputSchema: Array.from({ length: 70 }).reduce((inner) => ({ type: 'object', properties: { a: " +
          'inner } }), {})'
      ),
      'inputSchema', /nested deeper than 64/
    ],
    [
      'a mirrored parameter without a name (116)', property("{ type: 'string', 'x-mcp-header': '' }"),
      'inputSchema/properties/a/x-mcp-header', /must be an HTTP token/
    ],
    [
      'a mirrored parameter with a line break (116)',
      property("{ type: 'string', 'x-mcp-header': 'A\\r\\nB' }"), 'inputSchema/properties/a/x-mcp-header',
      /must be an HTTP token/
    ],
    [
      'a mirrored parameter named twice (117)',
      tool(
        "inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'Region' }, b: " +
          "{ type: 'string', 'x-mcp-header': 'REGION' } } }"
      ),
      'inputSchema/properties/b/x-mcp-header', /a second time; header names ignore case/
    ],
    [
      'a mirrored number (118)', property("{ type: 'number', 'x-mcp-header': 'A' }"),
      'inputSchema/properties/a/x-mcp-header', /of type string, integer or boolean, got "number"/
    ],
    [
      'a mirrored union (118)', property("{ type: ['string', 'null'], 'x-mcp-header': 'A' }"),
      'inputSchema/properties/a/x-mcp-header', /of type string, integer or boolean/
    ],
    [
      'a mirrored integer that is too large (118)',
      property("{ type: 'integer', maximum: 2 ** 53, 'x-mcp-header': 'A' }"),
      'inputSchema/properties/a/x-mcp-header', /within ±/
    ],
    [
      'a mirrored item of a list (119)',
      property("{ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } }"),
      'inputSchema/properties/a/items/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a mirrored branch (119)',
      tool(
        "inputSchema: { type: 'object', oneOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } " +
          '} }] }'
      ),
      'inputSchema/oneOf/0/properties/a/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a mirrored definition (119)',
      tool("inputSchema: { type: 'object', $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }"),
      'inputSchema/$defs/a/x-mcp-header', /reached through "properties" alone/
    ],
    [
      'a mirrored root (119)', tool("inputSchema: { type: 'object', 'x-mcp-header': 'A' }"),
      'inputSchema/x-mcp-header', /reached through "properties" alone/
    ],
    ['a schema that is no JSON', property('{ default: 5n }'), '', /^cannot be compiled: .*BigInt/],
    ['metadata that is no JSON', tool("_meta: { 'a.b/c': 5n }"), '', /^cannot be compiled: .*BigInt/],
    [
      'a tool without run', { 'tools/t.ts': moduleOf("export default defineTool({ name: 't' })") }, '',
      /^run: is required, but missing$/
    ],
    [
      'a run that is no function',
      { 'tools/t.ts': moduleOf("export default defineTool({ name: 't', run: 'now' })") }, 'run',
      /^must be a function$/
    ],
    ['a timeout of nothing', tool('timeoutMs: 0'), '', /^timeoutMs: /],
    [
      'a member that nobody knows', tool("descripton: 'A tool.'"), '',
      /^descripton: is not known here; remove it$/
    ],
    ['reserved metadata', tool("_meta: { 'io.modelcontextprotocol/x': 1 }"), '', /_meta/],
    ['reserved metadata of another domain', tool("_meta: { 'dev.mcp/x': 1 }"), '', /_meta/],
    [
      'an icon that could run code', tool("icons: [{ src: 'javascript:alert(1)' }]"), '', /^icons\[0\]\.src: /
    ],
    ['a scope with a space', tool("scopes: ['a b']"), '', /^scopes\[0\]: /],
    ['a prompt without render', prompt("name: 'p'"), '', /^render: is required, but missing$/],
    [
      'an argument named twice',
      prompt("name: 'p', arguments: [{ name: 'a' }, { name: 'a' }], render: () => ''"), '',
      /^arguments: "a" is named twice$/
    ],
    [
      'completions that are none',
      prompt("name: 'p', arguments: [{ name: 'a', complete: 5 }], render: () => ''"), '',
      /^arguments\.a\.complete: must be a list of strings or a function$/
    ],
    ['a relative URI (150)', resource("uri: '/a', read: () => ''"), '', /^uri: must match pattern/],
    [
      'a priority past 1 (161)', resource("uri: 'x://r', read: () => '', annotations: { priority: 1.5 }"), '',
      /^annotations\.priority: must be <= 1/
    ],
    ['a read that is no function', resource("uri: 'x://r', read: 'text'"), '', /^read: must be a function$/],
    [
      'a resource that only some may read, cached for all (189)',
      resource("uri: 'x://r', scopes: ['a'], cache: { cacheScope: 'public' }, read: () => ''"), '',
      /^cache\.cacheScope: cannot be public/
    ],
    [
      'a template that only some may read, cached for all (189)',
      template("uriTemplate: 'x://{a}', scopes: ['a'], cache: { cacheScope: 'public' }"), '',
      /^cache\.cacheScope: cannot be public/
    ],
    [
      'a template that RFC 6570 does not know (150)', template("uriTemplate: 'x://{a'"), 'uriTemplate',
      /unbalanced/
    ],
    [
      'completions for a variable that is none', template("uriTemplate: 'x://{a}', complete: { b: [] }"),
      'complete.b', /names no variable/
    ],
    [
      'a list with an entry that is none', template("uriTemplate: 'x://{a}', list: () => [{ name: 'n' }]"),
      'list()[0]', /either uri or variables/
    ],
    [
      'a list that fails', template("uriTemplate: 'x://{a}', list () { throw new Error('no database') }"),
      'list', /^failed: no database$/
    ]
  ]
  for (const [what, files, place, rule] of refused) {
    const problems = await problemsOf(t, files)
    t.match(problems, [{ place, rule }], what)
    t.equal(problems.length, 1, `${what}: once`)
  }
})

async function listOf (t: Test, files: Files, method: string): Promise<Message> {
  const app = await buildApp(t, files)
  return (await send(app, { method })).response.result
}

t.test('keeps metadata whose prefix is one\'s own', async (t) => {
  const { tools } = await listOf(
    t,
    {
      'tools/a.ts': toolModule(
        'a', "_meta: { 'com.example/team': { id: 1 }, plain: true, 'com.example.mcp/x': 1 }"
      )
    },
    'tools/list'
  )
  t.strictSame(tools[0]._meta, { 'com.example/team': { id: 1 }, plain: true, 'com.example.mcp/x': 1 })
})

t.test('waits once for a module that never ends, names it, and loads it when it is mended', async (t) => {
  const IMPORTERS = 30
  const DEADLINE_MS = 400
  const names = Array.from({ length: IMPORTERS }, (_, index) => `t${100 + index}`)
  const prompt = moduleOf("export default definePrompt({ name: 'p', render: () => '' })")
  const root = await writeCatalog(t, {
    ...Object.fromEntries(
      names.map((name) => [`tools/${name}.ts`, `import '../lib/rates.ts'\n${toolModule(name)}`])
    ),
    'tools/alone.ts': toolModule('alone'),
    'prompts/p.ts': `await new Promise(() => {})\n${prompt}`,
    'lib/rates.ts': 'await new Promise(() => {})'
  })
  const source = openCatalogFolder(root, {
    maxResourceBytes: 1_000_000, watchMode: 'off', trivet, moduleDeadlineMs: DEADLINE_MS
  })
  const began = performance.now()
  const { tools, problems } = await source.load()
  t.ok(performance.now() - began < IMPORTERS * DEADLINE_MS / 2, 'not once for each file')
  const rule = 'is not loaded within 0.4 s; a top-level await may wait for something that never comes'
  t.strictSame(problems, [
    ...names.map((name) => ({ file: `tools/${name}.ts`, place: 'in lib/rates.ts', rule })),
    { file: 'prompts/p.ts', place: '', rule }
  ])
  t.strictSame(tools.map(({ file }) => file), ['tools/alone.ts'])
  await writeInPlace(root, 'lib/rates.ts', '')
  await writeInPlace(root, 'prompts/p.ts', prompt)
  t.strictSame((await source.load()).problems, [])
})

t.test('takes elements in tools, as TSX', async (t) => {
  const root = await writeCatalog(t, {
    'tools/card.tsx': `/** @jsxRuntime classic @jsx h */\nconst h = (type: string, props: object | null, ...children: unknown[]) => '<' + type + '>' + children.join('') + '</' + type + '>'\n${toolModule('card', 'title: <b>card</b>')}`
  })
  t.match((await loadSnapshot(root)).primitives.tools.map(({ json }) => json), [/"title":"<b>card<\/b>"/])
})

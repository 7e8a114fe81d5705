import { symlink } from 'node:fs/promises'
import { basename, relative } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { openCatalogFolder } from '../../../src/catalog/folder/catalog-folder.ts'
import * as trivet from '../../../src/index.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from '../../helpers/catalog-folder.ts'
import { problemsOf, loadSnapshot } from '../../helpers/load-catalog.ts'
import { send, type Message } from '../../helpers/request.ts'
import { keysOf, moduleOf } from './definition-modules.ts'

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
  t.strictSame(keysOf(resources), ['file:///', 'file:///plain.ts', 'x://r'])
  t.strictSame(keysOf(templates), ['x://t/{id}', 'file:///{+path}'])
})

t.test('loads no test, by its name: *.test.* and *.spec.*', async (t) => {
  const fails = 'throw new Error("a test is not run")'
  const root = await writeCatalog(t, {
    'tools/a.ts': toolModule('a'),
    'tools/a.test.ts': fails,
    'tools/deep/a.spec.mjs': fails,
    'tools/latest.ts': toolModule('latest'),
    'prompts/p.md': 'Say p.',
    'prompts/p.test.md': 'Say more.',
    'prompts/p.test.ts': fails,
    'resources/r.resource.ts': moduleOf(
      "export default defineResource({ uri: 'x://r', name: 'r', read: () => 'r' })"
    ),
    'resources/r.resource.test.ts': fails,
    'resources/r.test.resource.ts': fails,
    'resources/openapi.spec.json': '{}',
    'resources/example.test.ts': fails
  })
  const { tools, prompts, resources } = (await loadSnapshot(root)).primitives
  t.strictSame(keysOf(tools), ['a', 'latest'])
  t.strictSame(keysOf(prompts), ['p'])
  t.strictSame(
    keysOf(resources), ['file:///', 'file:///example.test.ts', 'file:///openapi.spec.json', 'x://r'],
    'a plain file is served whatever its name'
  )
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

t.test('serves an empty folder under the folder\'s name', async (t) => {
  const root = await writeCatalog(t, {})
  const { server, primitives } = await loadSnapshot(root)
  t.match(server, {
    info: { name: basename(root), version: '0.0.0' }, instructions: undefined, listTtlMs: 60_000, readTtlMs: 0
  })
  t.strictSame([primitives.tools, primitives.prompts, primitives.listed, primitives.templates], [
    [], [], [], []
  ])
})

t.test('follows links within the folder, but none that leads out of it or to a folder above', async (t) => {
  const outside = await writeCatalog(t, { 'evil.ts': toolModule('evil') })
  const root = await writeCatalog(t, { 'tools/a.ts': toolModule('a'), 'tools/.data/b.ts': toolModule('b') })
  await symlink('.data/b.ts', `${root}/tools/b.ts`)
  await symlink('.', `${root}/tools/loop`)
  await symlink(`${outside}/evil.ts`, `${root}/tools/evil.ts`)
  await symlink(outside, `${root}/tools/more`)
  await symlink('nowhere.ts', `${root}/tools/dangling.ts`)
  t.strictSame(keysOf((await loadSnapshot(root)).primitives.tools), ['a', 'b'])
})

t.test('accepts a path relative to the working directory', async (t) => {
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

t.test('reports a file in tools/ without a tool, with advice', async (t) => {
  t.match(await problemsOf(t, { 'tools/rates.ts': 'export const rates = new Map()' }), [{
    file: 'tools/rates.ts',
    place: '',
    rule: 'exports nothing made by defineTool; code that tools share ' +
      'belongs in another folder, such as lib/'
  }])
})

t.test('reports a definition in the wrong folder', async (t) => {
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
    { file: 'prompts/p.md', place: /line \d/, rule: String },
    { file: 'tools/broken.ts', place: 'line 3', rule: 'Unexpected end of file' },
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

t.test('reports what the further lines of a module\'s error say', async (t) => {
  const throwing = (message: string) => `throw new Error(${JSON.stringify(message)})`
  t.match(await problemsOf(t, {
    'tools/addon.js': throwing("The module 'a.node'\nwas compiled against a different Node.js\n\n  (115)."),
    'tools/missing.js': throwing("Cannot find module 'a'\nRequire stack:\n- /secret/b.js"),
    'tools/long.js': throwing('a\n'.repeat(2000))
  }), [
    { file: 'tools/addon.js', rule: "The module 'a.node' was compiled against a different Node.js (115)." },
    { file: 'tools/long.js', rule: /^(?:a ){300}$/ },
    { file: 'tools/missing.js', rule: "Cannot find module 'a'" }
  ])
})

t.test('reports a missing folder in every watch mode', async (t) => {
  for (const watch of ['on', 'poll', 'off'] as const) {
    await t.rejects(
      createApp({ catalog: '/no/such/folder', watch, logLevel: 'silent', stateUrl: 'memory:' }),
      { name: 'CatalogError', message: /is not a folder; set TRIVET_CATALOG/ }, watch
    )
  }
})

async function listOf (t: Test, files: Files, method: string): Promise<Message> {
  const app = await buildApp(t, files)
  return (await send(app, { method })).response.result
}

t.test('keeps metadata whose prefix is not reserved', async (t) => {
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

t.test('waits once for a module that never ends, reports it, and loads it after a fix', async (t) => {
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

t.test('accepts TSX in tools', async (t) => {
  const root = await writeCatalog(t, {
    'tools/card.tsx': `/** @jsxRuntime classic @jsx h */\nconst h = (type: string, props: object | null, ...children: unknown[]) => '<' + type + '>' + children.join('') + '</' + type + '>'\n${toolModule('card', 'title: <b>card</b>')}`
  })
  t.match((await loadSnapshot(root)).primitives.tools.map(({ json }) => json), [/"title":"<b>card<\/b>"/])
})

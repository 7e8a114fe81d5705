import t from 'tap'
import { CatalogCompiler } from '../../../src/catalog/compiled/compile-catalog.ts'
import type { CatalogContents } from '../../../src/catalog/compiled/contents.ts'
import { defineResourceTemplate } from '../../../src/index.ts'
import { buildApp } from '../../helpers/app.ts'
import { EMPTY_CONTENTS } from '../../helpers/empty-contents.ts'
import { problemsOf } from '../../helpers/load-catalog.ts'
import { send, type Message } from '../../helpers/request.ts'

const moduleOf =
  (text: string): string =>
    `import { definePrompt, defineResource, defineResourceTemplate, defineTool } from 'trivet'\n${text}\n`

t.test('lists only the members of the specification (137, 138)', async (t) => {
  const icons =
    "[{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' }, { " +
      "src: 'data:image/png;base64,AA==' }]"
  const common =
    `title: 'Title', description: 'Description', icons: ${icons}, _meta: { 'com.example/x': { y: [1] } }, ` +
      'order: 1, scopes: []'
  const app = await buildApp(t, {
    'tools/a.ts': moduleOf(
      `const annotations = {
        title: 'T', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false
      }
      export default defineTool({
        name: 'a', ${common}, annotations, requiredCapabilities: { sampling: {} }, timeoutMs: 5, run: () => ''
      })`
    ),
    'prompts/a.ts': moduleOf(
      `const x = { name: 'x', title: 'X', description: 'An x.', required: true, complete: ['1'] }
      export default definePrompt({ name: 'a', ${common}, arguments: [x], render: () => '' })`
    ),
    'resources/a.resource.ts': moduleOf(`
      const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
      const cache = { ttlMs: 1 }
      const readable = { name: 'a', ${common}, mimeType: 'text/x-a', annotations, cache, read: () => '' }
      export const a = defineResource({ ...readable, uri: 'x://a', size: 5 })
      const complete = { id: ['1'] }
      export const b = defineResourceTemplate({ ...readable, uriTemplate: 'x://b/{id}', complete })`)
  })
  const shown = {
    name: 'a',
    title: 'Title',
    description: 'Description',
    icons: [
      { src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' },
      { src: 'data:image/png;base64,AA==' }
    ],
    _meta: { 'com.example/x': { y: [1] } }
  }
  const readable = {
    mimeType: 'text/x-a',
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' }
  }
  const listOf = async (method: string, member: string): Promise<Message> => (
    await send(app, { method })
  ).response.result[member]
  t.strictSame(await listOf('tools/list', 'tools'), [{
    ...shown,
    annotations: {
      title: 'T', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false
    },
    inputSchema: { type: 'object', additionalProperties: false }
  }], 'a tool without a schema takes no arguments (113)')
  t.strictSame(await listOf('prompts/list', 'prompts'), [
    { ...shown, arguments: [{ name: 'x', title: 'X', description: 'An x.', required: true }] }
  ])
  t.strictSame(await listOf('resources/list', 'resources'), [
    { ...shown, ...readable, uri: 'x://a', size: 5 }
  ])
  t.strictSame(await listOf('resources/templates/list', 'resourceTemplates'), [
    { ...shown, ...readable, uriTemplate: 'x://b/{id}' }
  ])
})

t.test('orders lists by `order`, then by the code units of the name (108)', async (t) => {
  const tools = [
    ['b', 0], ['a', 1], ['B', 0], ['_', 0], ['a10', 0], ['a9', 0], ['z', -1], ['y', -1.5]
  ] as const
  const app = await buildApp(t, {
    'tools/all.ts': moduleOf(
      `const run = () => ''
      export default ${JSON.stringify(tools)}.map(([name, order]) => defineTool({ name, order, run }))`
    )
  })
  const { result } = (await send(app, { method: 'tools/list' })).response
  t.strictSame(result.tools.map(({ name }: Message) => name), ['y', 'z', 'B', '_', 'a10', 'a9', 'b', 'a'])
})

t.test('lists the resources of a template, by URI or by variables (150, 153)', async (t) => {
  const app = await buildApp(t, {
    'resources/t.resource.ts': moduleOf(`export default defineResourceTemplate({
      uriTemplate: 'x://{kind}/{id}{?page}', name: 't', title: 'not theirs', complete: {},
      mimeType: 'text/x-t',
      list: async () => [
        { uri: 'x://a/1', name: 'by uri', title: 'One', size: 1, annotations: { priority: 1 } },
        { variables: { kind: 'b c', id: 'ü/2', page: '3' }, name: 'by variables', mimeType: 'text/x-own' },
        { variables: { kind: 'b', id: '3' }, name: 'without a page' },
        { uri: 'x://ü/1', name: 'percent-encoded', _meta: { 'com.example/x': 1 } }
      ],
      read: (variables) => JSON.stringify(variables)
    })`)
  })
  const { result } = (await send(app, { method: 'resources/list' })).response
  t.strictSame(result.resources, [
    { uri: 'x://%C3%BC/1', name: 'percent-encoded', mimeType: 'text/x-t', _meta: { 'com.example/x': 1 } },
    {
      uri: 'x://a/1',
      name: 'by uri',
      title: 'One',
      mimeType: 'text/x-t',
      annotations: { priority: 1 },
      size: 1
    },
    { uri: 'x://b%20c/%C3%BC%2F2?page=3', name: 'by variables', mimeType: 'text/x-own' },
    { uri: 'x://b/3', name: 'without a page', mimeType: 'text/x-t' }
  ])
  const { result: read } = (
    await send(app, { method: 'resources/read', params: { uri: 'x://b%20c/%C3%BC%2F2?page=3' } })
  ).response
  t.strictSame(read.contents, [
    { uri: 'x://b%20c/%C3%BC%2F2?page=3', mimeType: 'text/x-t', text: '{"kind":"b c","id":"ü/2","page":"3"}' }
  ])
})

t.test('waits once for lists that never end, and reports each', async (t) => {
  const DEADLINE_MS = 300
  const names = Array.from({ length: 30 }, (_, index) => `t${100 + index}`)
  const contents: CatalogContents = {
    ...EMPTY_CONTENTS,
    templates: names.map((name) => ({
      definition: defineResourceTemplate({
        uriTemplate: `${name}://{id}`,
        name,
        list: async () => await new Promise(() => {}),
        read: () => ''
      }),
      file: `resources/${name}.resource.ts`,
      place: 'template'
    }))
  }
  const began = performance.now()
  const rule = 'failed: it did not end within 0.3 s; it may wait for something that never comes'
  await t.rejects(new CatalogCompiler({ pageSize: 10, listDeadlineMs: DEADLINE_MS }).compile(contents), {
    name: 'CatalogError',
    problems: names.map((name) => ({ file: `resources/${name}.resource.ts`, place: 'template.list', rule }))
  })
  t.ok(performance.now() - began < names.length * DEADLINE_MS / 2, 'not once for each template')
})

t.test('what JSON would lose of _meta is a problem at load', async (t) => {
  const meta = "_meta: { 'com.example/x': { y: new Map() } }"
  const problems = await problemsOf(t, {
    'tools/a.ts': moduleOf(`export default defineTool({ name: 'a', description: 'A.', ${meta}, run: () => '' })`),
    'prompts/a.ts': moduleOf(`export default definePrompt({ name: 'a', ${meta}, render: () => '' })`),
    'resources/a.resource.ts': moduleOf(`
      export const one = defineResource({ uri: 'a://1', name: 'one', ${meta}, read: () => '' })
      export const all = defineResourceTemplate({ uriTemplate: 'a://{id}', name: 'all', ${meta}, read: () => '' })
    `)
  })
  t.equal(problems.length, 4)
  for (const { rule } of problems) t.match(rule, /^_meta: \/com\.example~1x\/y: a Map has no JSON form/)
})

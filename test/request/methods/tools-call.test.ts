import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send, type Answer, type Message } from '../../helpers/request.ts'
import { call, toolsModule } from './tools-module.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'
const IMAGE = "[{ type: 'image', data: '', mimeType: 'image/png' }]"

const text = ({ response }: Answer): string => response.result.content[0].text

t.test('a string is a text block, an object is structured content, undefined is empty (127)', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      text: { run: "() => 'ok'" },
      promised: { run: "async () => 'later'" },
      thenable: { run: '() => ({ then: (resolve) => { resolve("in the end") } })' },
      empty: { run: "() => ''" },
      object: { run: '() => ({ sum: 3 })' },
      nothing: { run: '() => {}' },
      nothing_later: { run: 'async () => {}' }
    })
  })
  for (const [name, expected] of Object.entries({
    text: { content: [{ type: 'text', text: 'ok' }] },
    promised: { content: [{ type: 'text', text: 'later' }] },
    thenable: { content: [{ type: 'text', text: 'in the end' }] },
    empty: { content: [{ type: 'text', text: '' }] },
    object: { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } },
    nothing: { content: [] },
    nothing_later: { content: [] }
  })) {
    const { status, response: { result: { _meta, ...result } } } = await send(app, call(name))
    t.equal(status, 200)
    t.strictSame(result, { resultType: 'complete', ...expected }, name)
  }
})

t.test('content blocks of every kind keep their annotations and metadata (134)', async (t) => {
  const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-07-28T00:00:00Z' }
  const content = [
    { type: 'text', text: 'a', annotations, _meta: { 'example.com/a': 1 } },
    { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/wav', annotations },
    {
      type: 'resource_link',
      uri: 'file:///a.md',
      name: 'a',
      title: 'A',
      description: 'An a.',
      mimeType: 'text/markdown',
      size: 3,
      annotations
    },
    { type: 'text', text: 'Resource A: file:///a.md\nAn a.', annotations },
    {
      type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: 'a' }, annotations
    },
    { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'image/png', blob: 'aGk=' } }
  ]
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      as_specified: { run: `() => (${JSON.stringify({ content })})` },
      by_hand: { run: `() => toolResult(${JSON.stringify({ content })})` },
      failed: { run: `() => (${JSON.stringify({ content, isError: true })})` }
    })
  })
  for (const name of ['as_specified', 'by_hand', 'failed']) {
    t.strictSame((await send(app, call(name))).response.result.content, content, name)
  }
  t.equal((await send(app, call('failed'))).response.result.isError, true)
})

t.test('embedded resources get a MIME type, and URIs are percent-encoded (134, 170)', async (t) => {
  const content = [
    { type: 'resource', resource: { uri: 'file:///a b.bin', blob: 'aGk=' } },
    { type: 'resource', resource: { uri: 'file:///ü.md', text: 'a' } },
    { type: 'resource_link', uri: 'file:///a b', name: 'a' }
  ]
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      ok: { run: `() => (${JSON.stringify({ content })})` },
      failed: { run: `() => { throw new ToolError('no', ${JSON.stringify({ content })}) }` }
    })
  })
  const sent = [
    {
      type: 'resource',
      resource: { uri: 'file:///a%20b.bin', mimeType: 'application/octet-stream', blob: 'aGk=' }
    },
    { type: 'resource', resource: { uri: 'file:///%C3%BC.md', mimeType: 'text/plain', text: 'a' } },
    { type: 'resource_link', uri: 'file:///a%20b', name: 'a' },
    { type: 'text', text: 'Resource a: file:///a%20b' }
  ]
  t.strictSame((await send(app, call('ok'))).response.result.content, sent)
  t.strictSame((await send(app, call('failed'))).response.result.content, [
    { type: 'text', text: 'no' }, ...sent
  ])
})

t.test('structured content is any JSON value, and has its text (128, 130, 131, 132)', async (t) => {
  const values = {
    null_: null,
    false_: false,
    zero: 0,
    number: 1.5,
    text: 'a "b"\n',
    array: [1, 'a', null],
    object: { a: { b: [] } },
    empty: {}
  }
  const modules = Object.entries(values).map(([name, value]) => [
    `tools/${name}.ts`,
    toolsModule({
      [`${name}_promised`]: {
        options: 'outputSchema: { $comment: "anything" }', run: `() => (${JSON.stringify(value)})`
      },
      [`${name}_by_hand`]: { run: `() => toolResult({ structuredContent: ${JSON.stringify(value)} })` },
      [`${name}_with_image`]: {
        run: `() => toolResult({ structuredContent: ${JSON.stringify(value)}, content: ${IMAGE} })`
      }
    })
  ])
  const app = await buildApp(t, Object.fromEntries(modules))
  for (const [name, value] of Object.entries(values)) {
    for (const way of ['promised', 'by_hand', 'with_image']) {
      const { response: { result } } = await send(app, call(`${name}_${way}`))
      t.strictSame(result.structuredContent, value, `${name}, ${way}`)
      t.strictSame(result.content.filter(({ type }: Message) => type === 'text'), [
        { type: 'text', text: JSON.stringify(value) }
      ])
    }
  }
})

t.test('without an output schema, any value but a string becomes structured content', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolsModule({
      list: { run: '() => [1, 2]' },
      nil: { run: '() => null' },
      no: { run: '() => false' },
      four: { run: 'async () => 4' }
    })
  })
  for (const [name, value] of Object.entries({ list: [1, 2], nil: null, no: false, four: 4 })) {
    const { response: { result } } = await send(app, call(name))
    t.strictSame(result.structuredContent, value)
    t.strictSame(result.content, [{ type: 'text', text: JSON.stringify(value) }])
  }
})

t.test('a text block of the author replaces the JSON text of structured content', async (t) => {
  const app = await buildApp(t, {
    'tools/a.ts': toolModule(
      'a', '', "() => toolResult({ content: [{ type: 'text', text: 'three' }], structuredContent: 3 })"
    )
  })
  t.strictSame((await send(app, call('a'))).response.result.content, [{ type: 'text', text: 'three' }])
})

t.test('a result has the metadata of the tool and of the service (86)', async (t) => {
  const app = await buildApp(t, {
    'server.yaml': 'name: shop\nversion: 2.0.0\n',
    'tools/a.ts': toolsModule({
      by_hand: { run: "() => toolResult({ content: [], _meta: { 'example.com/cost': 3 } })" },
      as_specified: { run: "() => ({ content: [], _meta: { 'example.com/cost': 3 } })" }
    })
  })
  for (const name of ['by_hand', 'as_specified']) {
    t.strictSame((await send(app, call(name))).response.result._meta, {
      [SERVER_INFO]: { name: 'shop', version: '2.0.0' }, 'example.com/cost': 3
    })
  }
})

t.test('the context has the caller, the client, the revision and the request id', async (t) => {
  const log = createReadableLog()
  const app = await buildApp(t, {
    'tools/a.ts': toolModule('a', '', `(args, ctx) => {
      ctx.log.notice('seen', { step: 1 })
      const { principal, client, revision, requestId, signal } = ctx
      return { args, scopes: [...principal.scopes], client, revision, requestId, aborted: signal.aborted }
    }`)
  }, { logger: log.logger })
  const { response: { result: { structuredContent: seen } } } = await send(app, {
    ...call('a'), meta: { 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }
  })
  t.match(seen, {
    args: {},
    scopes: [],
    client: { info: { name: 'test', version: '1.0.0' }, capabilities: { roots: {} } },
    revision: '2026-07-28',
    aborted: false
  })
  t.match(
    log.lines.find(({ msg }) => msg === 'seen'), { step: 1, reqId: seen.requestId, level: 30 },
    'the log of the tool has the request id'
  )
  t.equal(text(await send(app, call('a'))).includes('"aborted":false'), true)
})

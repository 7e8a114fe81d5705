// The spans of requests, with a real SDK that keeps them in memory.

import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node'
import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { counterModule } from '../../helpers/counter-module.ts'
import { recordSpans } from '../../helpers/recorded-spans.ts'
import { send, type RequestParts } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { startRequest } from '../../helpers/stream.ts'

const OPEN = "inputSchema: { type: 'object' }"
const FILES = {
  'tools/echo.ts': toolModule('echo', OPEN, '({ text }) => text'),
  'tools/fails.ts': toolModule('fails', OPEN, '({ text }) => { throw new ToolError(text) }'),
  'tools/breaks.ts': toolModule('breaks', OPEN, 'async ({ text }) => { throw new RangeError(text) }'),
  'tools/named.ts': toolModule(
    'named', OPEN, '({ text }) => { throw Object.assign(new Error("x"), { name: text }) }'
  ),
  'tools/stuck.ts': toolModule('stuck', `${OPEN}, timeoutMs: 50`, '() => new Promise(() => {})'),
  'tools/waits.ts': toolModule('waits', '', `async (_, ctx) => {
    await ctx.span('begun', () => {})
    await new Promise((resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
  }`),
  'tools/asks.ts': "import { defineTool, elicit } from 'trivet'\n" +
    "const schema = { type: 'object', properties: { a: { type: 'string' } } }\n" +
    "export default defineTool({ name: 'asks', description: 'Asks.', run: async (_, ctx) => {\n" +
    "  await ctx.ask({ q: elicit.form({ message: 'Which?', schema }) })\n  return 'ok'\n} })\n",
  'tools/parts.ts': toolModule('parts', OPEN, `async ({ text }, ctx) => {
    const kept = await ctx.span('outer', async () => await ctx.span('inner', () => text))
    const lazy = await ctx.span('lazy', () => ({ then: (resolve) => resolve('late') }))
    await ctx.span('\\ud83d' + 'x'.repeat(98) + '\\u{1f600}', () => {})
    await ctx.span('broken', async () => { throw new TypeError(text) }).catch(() => {})
    return [kept, lazy].join()
  }`),
  'tools/many.ts': toolModule('many', '', `async (_, ctx) => {
    let calls = 0
    for (let i = 0; i < 1000; i++) await ctx.span('one', () => { calls++ })
    return String(calls)
  }`),
  'tools/misuses.ts': toolModule('misuses', '', `async (_, ctx) => {
    const problems = []
    for (const name of ['', undefined]) await ctx.span(name, () => {}).catch((e) => problems.push(e.name))
    return problems.join()
  }`),
  'tools/lists.ts': counterModule('list', 'lst', 'idleTtlMs: 60_000'),
  'prompts/p.md': '---\ndescription: P.\narguments:\n  - name: x\n---\nHello {{x}}.\n',
  'resources/a.md': '# a',
  'resources/book.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
    "defineResourceTemplate({ uriTemplate: 'book://{id}', name: 'book', complete: { id: () => ['1'] }, " +
    'read: ({ id }) => id })\n'
}

const CANARY = 'canary-4711'
/** The name of a span that is cut, and begins with half of a character. */
const WHOLE = `\ufffd${'x'.repeat(98)}`
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const OTHER = 'a0f067aa0ba902b7'
const toParent = (span: string, flags = '01') => `00-${TRACE}-${span}-${flags}`
/** Values of `traceparent` that count as absent. */
const INVALID = [
  'nonsense', `00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`,
  `ff-${TRACE}-${PARENT}-01`, `${toParent(PARENT)}-more`, toParent(PARENT).toUpperCase(), 7, null, {},
  `01-${TRACE}-${PARENT}-01-${'-'.repeat(1e5)}`
]

const recorded = recordSpans()
const app = await buildApp(t, FILES)
const url = await listen(app)
/** Everything that left the process in spans, but for ids. */
const exported: string[] = []
t.beforeEach(() => recorded.reset())
t.afterEach(() => {
  exported.push(JSON.stringify(recorded.all().map(toText)))
})

function toText ({ name, attributes, events, links, status }: ReadableSpan) {
  return { name, attributes, events, links, status }
}

const call = (name: string, args: object = {}, rest: Partial<RequestParts> = {}): RequestParts =>
  ({ method: 'tools/call', params: { name, arguments: args }, ...rest })

async function ask (parts: RequestParts) {
  return (await send(app, parts)).response
}

t.test('a request is a span of a server, and its handler a span below it', async (t) => {
  await ask(call('echo', { text: CANARY }, { id: 'r-7' }))
  const server = await recorded.named('tools/call echo')
  t.equal(server.kind, SpanKind.SERVER)
  t.equal(server.parentSpanContext, undefined)
  t.equal(server.status.code, SpanStatusCode.UNSET)
  t.strictSame(server.attributes, {
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
    'network.transport': 'tcp',
    'jsonrpc.request.id': 'r-7',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'echo'
  })
  t.strictSame(recorded.below(server), ['execute_tool echo'])
  const handler = await recorded.named('execute_tool echo')
  t.equal(handler.kind, SpanKind.INTERNAL)
  t.strictSame(handler.attributes, { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'echo' })
  t.equal(recorded.all().length, 2)
})

t.test('names have the keys of tools and prompts only, and nothing of the client', async (t) => {
  const id = CANARY.repeat(10)
  const cases: ReadonlyArray<readonly [RequestParts, string, object, string[]]> = [
    [
      { method: 'prompts/get', params: { name: 'p', arguments: { x: CANARY } } },
      'prompts/get p', { 'gen_ai.prompt.name': 'p' }, ['render_prompt p']
    ],
    [
      { method: 'resources/read', params: { uri: 'file:///a.md' } },
      'resources/read', { 'mcp.resource.uri': 'file:///a.md' }, ['read_resource']
    ],
    [
      { method: 'resources/read', params: { uri: `book://${CANARY}` } },
      'resources/read', { 'mcp.resource.uri': 'book://{id}' }, ['read_resource']
    ],
    [
      {
        method: 'completion/complete',
        params: { ref: { type: 'ref/resource', uri: 'book://{id}' }, argument: { name: 'id', value: CANARY } }
      },
      'completion/complete', {}, ['complete']
    ],
    [{ method: 'tools/list' }, 'tools/list', {}, []],
    [call(CANARY), 'tools/call', { 'rpc.response.status_code': '-32602' }, []],
    [{ method: `nothing/${CANARY}` }, '_OTHER', { 'rpc.response.status_code': '-32601' }, []]
  ]
  for (const [parts, name, attributes, handlers] of cases) {
    await ask({ ...parts, id })
    const span = await recorded.named(name)
    t.match(span.attributes, attributes)
    t.notOk('jsonrpc.request.id' in span.attributes, 'a long id is left out')
    t.notOk('error.type' in span.attributes, 'an error of the client is no failure')
    t.equal(span.status.code, SpanStatusCode.UNSET)
    t.strictSame(recorded.below(span), handlers)
    recorded.reset()
  }
})

t.test('failures have the status ERROR and the class of the error, never its message', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, failure: string, handler: string]> = [
    ['fails', 'tool_error', 'ToolError'], ['breaks', '-32603', 'RangeError'], ['named', '-32603', '_OTHER'],
    ['stuck', 'tool_error', 'stopped']
  ]
  for (const [name, failure, handler] of cases) {
    await ask(call(name, { text: `${CANARY} with spaces` }))
    for (const [span, type] of [[`tools/call ${name}`, failure], [`execute_tool ${name}`, handler]] as const) {
      const { status, attributes, events } = await recorded.named(span)
      t.strictSame(status, { code: SpanStatusCode.ERROR })
      t.equal(attributes['error.type'], type, span)
      t.strictSame(events, [])
    }
  }
  t.equal((await recorded.named('tools/call breaks')).attributes['rpc.response.status_code'], '-32603')
})

t.test('a handler that asks its client has not failed', async (t) => {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
  t.equal((await ask(call('asks', {}, { meta }))).result.resultType, 'input_required')
  for (const name of ['tools/call asks', 'execute_tool asks']) {
    t.equal((await recorded.named(name)).status.code, SpanStatusCode.UNSET)
  }
})

t.test('a client that leaves is no failure of the service', async (t) => {
  const sending = startRequest(t, url, call('waits'))
  await recorded.named('begun')
  sending.abort()
  const left = await recorded.named('tools/call waits')
  t.equal(left.attributes['trivet.cancelled'], true)
  t.equal(left.status.code, SpanStatusCode.UNSET)
  t.equal((await recorded.named('execute_tool waits')).attributes['error.type'], 'AbortError')
})

t.test('the span of a subscription ends with its stream', async (t) => {
  const sending = startRequest(t, url, {
    method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }
  })
  const stream = await sending.answer
  await stream.next()
  t.strictSame(recorded.all(), [])
  sending.abort()
  t.equal((await recorded.named('subscriptions/listen')).status.code, SpanStatusCode.UNSET)
})

t.test('the parent is that of the message, else that of the headers', async (t) => {
  const headers = { traceparent: toParent(OTHER), tracestate: 'a=1' }
  const cases: ReadonlyArray<readonly [Partial<RequestParts>, string | undefined, string | undefined]> = [
    [{ meta: { traceparent: toParent(PARENT), tracestate: 'b=2' } }, PARENT, 'b=2'],
    [{ headers }, OTHER, 'a=1'],
    [{ headers, meta: { traceparent: toParent(PARENT) } }, PARENT, undefined],
    [{ headers, meta: { traceparent: 'nonsense' } }, OTHER, 'a=1'],
    [{ headers, meta: { tracestate: 'b=2' } }, OTHER, 'a=1'],
    ...INVALID.map((traceparent) => [{ meta: { traceparent } }, undefined, undefined] as const),
    [{ meta: { traceparent: toParent(PARENT), tracestate: `a=${'x'.repeat(1e5)}` } }, PARENT, undefined],
    [{ meta: { traceparent: toParent(PARENT), tracestate: { a: 1 } } }, PARENT, undefined]
  ]
  for (const [parts, parent, state] of cases) {
    await ask(call('echo', {}, parts))
    const span = await recorded.named('tools/call echo')
    const { traceId, traceState } = span.spanContext()
    t.equal(span.parentSpanContext?.spanId, parent)
    t.equal(traceState?.serialize() || undefined, state)
    t.equal(traceId === TRACE, parent !== undefined)
    recorded.reset()
  }
})

t.test('the transport is linked when the message names its parent', async (t) => {
  const headers = { traceparent: toParent(OTHER) }
  await ask(call('echo', {}, { headers, meta: { traceparent: toParent(PARENT) } }))
  t.match((await recorded.named('tools/call echo')).links, [{ context: { traceId: TRACE, spanId: OTHER } }])
  recorded.reset()

  const outer = recorded.tracer.startSpan('POST /mcp')
  await context.with(trace.setSpan(context.active(), outer), async () => {
    await ask(call('echo', {}, { headers }))
    await ask(call('fails', {}, { headers, meta: { traceparent: toParent(PARENT) } }))
  })
  const { spanId } = outer.spanContext()
  const [alone, named] = [await recorded.named('tools/call echo'), await recorded.named('tools/call fails')]
  t.equal(alone.parentSpanContext?.spanId, spanId, 'an instrumented server comes before the headers')
  t.strictSame(alone.links, [])
  t.equal(named.parentSpanContext?.spanId, PARENT)
  t.match(named.links, [{ context: { spanId } }])
})

t.test('a request that is not sampled has no spans, and its handler hands that on', async (t) => {
  const files = {
    'tools/where.ts': "import { defineTool } from 'trivet'\nimport { trace } from '@opentelemetry/api'\n" +
      "export default defineTool({ name: 'where', description: 'W.', run: async (_, ctx) => {\n" +
      '  const { traceId, traceFlags } = trace.getActiveSpan().spanContext()\n' +
      "  await ctx.span('part', () => {})\n  return [traceId, traceFlags].join()\n} })\n"
  }
  const other = await buildApp(t, {
    ...files,
    'node_modules/@opentelemetry/api/package.json': '{"name":"x","type":"module","exports":"./i.js"}',
    'node_modules/@opentelemetry/api/i.js': `export * from ${JSON.stringify(import.meta.resolve('@opentelemetry/api'))}\n`
  })
  const where = async (flags: string) => (await send(other, call('where', {}, {
    meta: { traceparent: toParent(PARENT, flags) }
  }))).response.result.content[0].text
  t.equal(await where('00'), `${TRACE},0`)
  t.strictSame(recorded.all(), [])
  t.equal(await where('01'), `${TRACE},1`)
  t.strictSame(recorded.all().map(({ name }) => name), ['part', 'execute_tool where', 'tools/call where'])
})

t.test('ctx.span nests, waits, and records the class of an error', async (t) => {
  t.equal((await ask(call('parts', { text: CANARY }))).result.content[0].text, `${CANARY},late`)
  t.strictSame(recorded.below(await recorded.named('execute_tool parts')), ['outer', 'lazy', WHOLE, 'broken'])
  t.strictSame(recorded.below(await recorded.named('outer')), ['inner'])
  t.equal((await recorded.named('broken')).attributes['error.type'], 'TypeError')
  t.equal((await recorded.named('tools/call parts')).status.code, SpanStatusCode.UNSET)
})

t.test('one request has at most 128 spans of parts, and the others run without', async (t) => {
  t.equal((await ask(call('many'))).result.content[0].text, '1000')
  t.equal(recorded.below(await recorded.named('execute_tool many')).length, 128)
  t.equal((await recorded.named('tools/call many')).attributes['trivet.spans.dropped'], 872)
})

t.test('ctx.span refuses a name that is empty', async (t) => {
  t.equal((await ask(call('misuses'))).result.content[0].text, 'TypeError,TypeError')
})

t.test('each operation on a handle is a span with the kind, and without the id', async (t) => {
  const text = async (name: string, args: object) => (await ask(call(name, args))).result.content[0].text
  const id = await text('create_list', {})
  await text('change_list', { id, name: CANARY })
  await text('read_list', { id })
  await text('delete_list', { id })
  for (const [operation, verb] of Object.entries({
    create: 'create', update: 'change', read: 'read', delete: 'delete'
  })) {
    const span = await recorded.named(`${operation} list`)
    t.strictSame(span.attributes, { 'trivet.handle.kind': 'list' })
    t.strictSame(recorded.below(await recorded.named(`execute_tool ${verb}_list`)), [span.name])
  }
  t.notMatch(JSON.stringify(recorded.all().map(toText)), id)
  recorded.reset()
  await text('read_list', { id })
  t.match(await recorded.named('read list'), {
    status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'HandleError' }
  })
})

t.test('each message of a session has its span, with a parent of its own', async (t) => {
  const session = await openSession(t, url, { headers: { traceparent: toParent(OTHER) } })
  t.equal((await recorded.named('initialize')).parentSpanContext?.spanId, OTHER)
  await session.call('echo', { text: CANARY }, { id: 'q', meta: { traceparent: toParent(PARENT) } })
  const { attributes, parentSpanContext } = await recorded.named('tools/call echo')
  t.equal(parentSpanContext?.spanId, PARENT)
  t.match(attributes, { 'mcp.protocol.version': '2025-11-25', 'jsonrpc.request.id': 'q' })
  t.notMatch(JSON.stringify(recorded.all().map(toText)), String(session.token), 'and nothing of the session')
  recorded.reset()

  const old = await openSession(t, url, { revision: '2025-03-26' })
  recorded.reset()
  const toCall = (name: string, span?: string) => old.toRequest('tools/call', {
    name, arguments: {}, ...(span !== undefined && { _meta: { traceparent: toParent(span) } })
  })
  await (await old.post([toCall('echo', PARENT), toCall('create_list'), toCall('breaks', OTHER)])).ended()
  t.equal((await recorded.named('tools/call echo')).parentSpanContext?.spanId, PARENT)
  t.equal((await recorded.named('tools/call create_list')).parentSpanContext, undefined)
  t.equal((await recorded.named('tools/call breaks')).parentSpanContext?.spanId, OTHER)
})

t.test('no span has an argument', async (t) => {
  t.ok(exported.length > 10)
  t.notMatch(exported.join(), CANARY)
})

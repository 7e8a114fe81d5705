// Answers over a real socket: one JSON body, or a stream where something is to be said before the result.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../src/app.ts'
import { buildApp, listen } from '../helpers/app.ts'
import { until } from '../helpers/deadline.ts'
import { createReadableLog } from '../helpers/log.ts'
import type { Message, RequestParts } from '../helpers/request.ts'
import { openStream, post, startRequest } from '../helpers/stream.ts'

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

const FILES = {
  'lib/shared.ts': `
    export const state = { started: 0, aborted: [], flooded: 0 }
    const gates = new Map()
    export const gate = (name) => {
      if (!gates.has(name)) { let open; const promise = new Promise((resolve) => { open = resolve }); gates.set(name, { promise, open }) }
      return gates.get(name)
    }`,
  'tools/all.ts': `
    import { defineTool, ToolError } from 'trivet'
    import { setImmediate as turn } from 'node:timers/promises'
    import { state, gate } from '../lib/shared.ts'
    const text = { type: 'string' }
    const define = (name, run, inputSchema = { type: 'object', properties: { text, gate: text, count: { type: 'integer' } } }) => defineTool({ name, description: 'A tool.', inputSchema, run })
    const untilAborted = (ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', () => { state.aborted.push(ctx.signal.reason.name); reject(ctx.signal.reason) }))
    export default [
      define('silent', async ({ text }) => text),
      define('speaks', async ({ text }, ctx) => { ctx.progress(1, 2, 'half'); await gate(text).promise; ctx.progress(2, 2); return text }),
      define('steps', (_, ctx) => { for (const step of [1, 1, 0.5, 2, NaN, 2.5, -3, Infinity, 3]) ctx.progress(step); return 'ok' }),
      define('logs', (_, ctx) => { for (const level of ${JSON.stringify(LEVELS)}) ctx.log[level]('a ' + level, { n: 1 }); return 'ok' }),
      define('logs_oddly', (_, ctx) => { const cycle = {}; cycle.cycle = cycle; ctx.log.error('plain'); ctx.log.error('cycle', cycle); ctx.log.error('bigint', { n: 1n }); return 'ok' }),
      define('late', (_, ctx) => { setImmediate(() => { ctx.progress(1); ctx.log.error('too late'); state.started++ }); return 'ok' }),
      define('speaks_and_fails', async (_, ctx) => { ctx.progress(1); await turn(); throw new Error('hunter2') }),
      define('speaks_and_refuses', async (_, ctx) => { ctx.progress(1); await turn(); throw new ToolError('not today') }),
      define('hangs', async (_, ctx) => { state.started++; await untilAborted(ctx) }),
      define('speaks_and_hangs', async (_, ctx) => { ctx.progress(1); state.started++; try { await untilAborted(ctx) } finally { ctx.progress(2); ctx.log.error('after the end') } }),
      define('open', ({ gate: name }) => { gate(name).open(); return 'ok' }),
      define('state', () => state),
      define('flood', async ({ count }, ctx) => {
        for (let i = 1; i <= count; i++) { ctx.progress(i, count, 'x'.repeat(1000)); if (i % 500 === 0) await turn() }
        state.flooded++
        return 'flooded'
      })
    ]`
}

interface Service { readonly url: string, readonly state: () => Promise<Message> }

async function serve (t: Test, options: AppOptions = {}): Promise<Service> {
  const url = await listen(await buildApp(t, FILES, options))
  return { url, state: async () => (await post(t, url, call('state'))).response.result.structuredContent }
}

function call (name: string, args: object = {}, meta: object = {}): RequestParts {
  return { method: 'tools/call', params: { name, arguments: args }, meta: { ...meta } }
}

const token = (progressToken: string | number) => ({ progressToken })

t.test('answers with one JSON body unless there is something to say first, and then with a stream (13, 18, ' +
  '20, 242)', async (t) => {
  const { url } = await serve(t)
  const plain = await post(t, url, call('silent', { text: 'a' }, token(1)))
  t.match(plain.headers, { 'content-type': /^application\/json/ })
  t.match(plain.response, { id: 1, result: { content: [{ text: 'a' }] } })

  const stream = await openStream(t, url, call('speaks', { text: 'g1' }, token('p')))
  t.equal(stream.status, 200)
  t.match(stream.headers, {
    'content-type': 'text/event-stream', 'cache-control': /no-cache/, 'x-accel-buffering': 'no'
  })
  t.notOk('mcp-session-id' in stream.headers)
  t.strictSame(await stream.next(), {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: 1, total: 2, message: 'half' }
  })
  t.notOk(stream.hasEnded, 'what is said arrives while the work goes on')
  await post(t, url, call('open', { gate: 'g1' }))
  t.strictSame((await stream.next()).params, { progressToken: 'p', progress: 2, total: 2 })
  t.match(await stream.next(), { id: 1, result: { resultType: 'complete', content: [{ text: 'g1' }] } })
  await stream.ended()
  t.ok(stream.isComplete)
  t.equal(stream.messages.length, 3, 'the response is the last')
  for (const message of stream.messages) {
    t.notOk('id' in message && 'method' in message, 'nothing is asked of the client (17, 62, 63)')
  }
})

t.test('progress goes under the token that was given, in its type, and only grows (237, 238, 241)', async (
  t
) => {
  const { url } = await serve(t)
  for (const progressToken of ['abc', '7', 7, 0, '']) {
    const { messages } = await post(t, url, call('steps', {}, { progressToken }))
    const params = messages.slice(0, -1).map(({ method, params }) => {
      t.equal(method, 'notifications/progress')
      return params
    })
    t.strictSame(params, [1, 2, 2.5, 3].map((progress) => ({ progressToken, progress })))
  }
  const without = await post(t, url, call('steps'))
  t.match(without.headers, { 'content-type': /^application\/json/ }, 'without a token nobody is told')
  for (const progressToken of [1.5, null, {}, true]) {
    t.match((await post(t, url, call('steps', {}, { progressToken }))).response.error, {
      code: -32602, message: /progressToken must be a string or an integer/
    })
  }
})

t.test('log messages go to a client that asked for their level, and to no other (249, 250, 251, 252, ' +
  '253)', async (t) => {
  const { url } = await serve(t)
  for (const [index, logLevel] of LEVELS.entries()) {
    const { messages } = await post(
      t, url, call('logs', {}, { 'io.modelcontextprotocol/logLevel': logLevel })
    )
    t.strictSame(messages.slice(0, -1), LEVELS.slice(index).map((level) =>
      ({
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level, data: { message: `a ${level}`, n: 1 } }
      })), logLevel)
    t.match(messages.at(-1), { result: { content: [{ text: 'ok' }] } })
  }
  const unasked = await post(t, url, call('logs', {}, token(1)))
  t.equal(unasked.messages.length, 1)
  t.match(unasked.headers, { 'content-type': /^application\/json/ })
  t.match(
    (await post(t, url, call('logs', {}, { 'io.modelcontextprotocol/logLevel': 'loud' }))).response.error,
    { code: -32602, message: /must be one of debug, info/ }
  )
})

t.test('a log message that has no JSON fails no tool: it comes without its data', async (t) => {
  const { url } = await serve(t)
  const { messages } = await post(
    t, url, call('logs_oddly', {}, { 'io.modelcontextprotocol/logLevel': 'error' })
  )
  t.match(messages, [
    { params: { data: 'plain' } }, { params: { data: 'cycle' } }, { params: { data: 'bigint' } },
    { result: { content: [{ text: 'ok' }] } }
  ])
})

t.test('after the result nothing more is said (239, 251)', async (t) => {
  const { url, state } = await serve(t)
  const { messages } = await post(
    t, url, call('late', {}, { ...token(1), 'io.modelcontextprotocol/logLevel': 'debug' })
  )
  t.match(messages, [{ result: { content: [{ text: 'ok' }] } }])
  t.equal((await state()).started, 1)
})

t.test('a failure after the stream has opened is its last event (57)', async (t) => {
  const { url } = await serve(t)
  const failed = await post(t, url, { ...call('speaks_and_fails', {}, token(1)), id: 'f' })
  t.equal(failed.status, 200)
  t.strictSame(failed.messages.slice(1), [
    { jsonrpc: '2.0', id: 'f', error: { code: -32603, message: 'Internal error' } }
  ])
  const refused = await post(t, url, call('speaks_and_refuses', {}, token(1)))
  t.match(refused.messages, [
    { method: 'notifications/progress' },
    { id: 1, result: { isError: true, content: [{ text: 'not today' }] } }
  ])
})

t.test('what fixes a status is settled before a stream opens (103)', async (t) => {
  const { url } = await serve(t)
  const answer = await post(t, url, {
    ...call('speaks', { text: 'x' }, token(1)), headers: { 'mcp-name': 'other' }
  })
  t.equal(answer.status, 400)
  t.match(answer.headers, { 'content-type': /^application\/json/ })
})

t.test('a client that leaves ends its request: the signal aborts, and nobody hears more of it (22, 23, 24, ' +
  '243, 247)', async (t) => {
  const log = createReadableLog()
  const { url, state } = await serve(t, { logger: log.logger })
  const untilState = async (holds: (state: Message) => boolean) => await until(
    async () => holds(await state()), 'the tool'
  )

  const stream = await openStream(
    t, url, call('speaks_and_hangs', {}, { ...token(1), 'io.modelcontextprotocol/logLevel': 'debug' })
  )
  await stream.next()
  stream.close()
  await untilState(({ aborted }) => aborted.length === 1)
  t.equal(stream.messages.length, 1)

  const plain = startRequest(t, url, call('hangs'))
  await untilState(({ started }) => started === 2)
  plain.abort()
  await untilState(({ aborted }) => aborted.length === 2)
  t.strictSame((await state()).aborted, ['AbortError', 'AbortError'])
  t.strictSame(
    log.lines.filter(({ level }) => level >= 50).map(({ msg }) => msg), ['after the end'],
    'a client that leaves is no failure of the service'
  )
  for (const name of ['speaks_and_hangs', 'hangs']) {
    await until(
      () => log.lines.some((line) => line.msg === 'request' && line.name === name && line.cancelled === true),
      `the line of ${name}`
    )
  }
})

t.test('hooks of an embedding program run for every kind of answer, and their headers reach the ' +
  'client', async (t) => {
  const app = await buildApp(t, FILES)
  const sent: string[] = []
  app.addHook('onRequest', async (_, reply) => { reply.header('x-own', 'mine') })
  app.addHook('onSend', async (request) => { sent.push(request.url) })
  const url = await listen(app)
  for (const parts of [call('steps'), call('steps', {}, token(1)), { method: 'unknown/method' }]) {
    const stream = await openStream(t, url, parts)
    await stream.ended()
    t.equal(stream.headers['x-own'], 'mine')
  }
  t.strictSame(sent, ['/mcp', '/mcp', '/mcp'])
})

t.test('a client that does not read a flood costs bounded memory, and still gets its result', async (t) => {
  const { url, state } = await serve(t)
  const count = 60_000
  const stream = await openStream(t, url, call('flood', { count }, token(1)), { paused: true })
  await until(async () => (await state()).flooded === 1, 'the end of the flood', 20_000)
  stream.resume()
  await stream.ended()
  t.match(stream.response, { id: 1, result: { content: [{ text: 'flooded' }] } })
  // What was kept is what comes, with what the kernel's buffers hold.
  t.ok(stream.receivedBytes < 20_000_000, `${stream.receivedBytes} bytes of more than 60 million came`)
  const steps = stream.messages.slice(0, -1).map(({ params }) => params.progress)
  t.strictSame(steps, steps.toSorted((a, b) => a - b), 'what comes is in order')
})

t.test('requests with equal ids, and equal tokens, are independent (15, 16, 53, 65)', async (t) => {
  const { url } = await serve(t)
  const streams = await Promise.all(
    ['a', 'b', 'c'].map(async (text) => await openStream(t, url, call('speaks', { text }, token('same'))))
  )
  for (const gate of ['c', 'a', 'b']) await post(t, url, call('open', { gate }))
  for (const [index, stream] of streams.entries()) {
    await stream.ended()
    t.match(stream.messages, [
      { params: { progress: 1 } }, { params: { progress: 2 } },
      { id: 1, result: { content: [{ text: 'abc'[index] }] } }
    ])
    t.equal(stream.messages.length, 3)
  }
  const answers = await Promise.all(
    Array.from(
      { length: 50 }, async (_, index) => await post(t, url, call('silent', { text: String(index) }))
    )
  )
  t.strictSame(
    answers.map(({ response }) => response.result.content[0].text),
    Array.from({ length: 50 }, (_, index) => String(index))
  )
})

t.test('an allowed web page may read every kind of answer, and another page none', async (t) => {
  const { url } = await serve(t, { allowedOrigins: ['https://app.example.com'] })
  const from = (origin: string, parts: RequestParts): RequestParts => ({
    ...parts, headers: { origin, ...parts.headers }
  })
  const answers = {
    json: call('silent', { text: 'a' }),
    stream: call('steps', {}, token(1)),
    'protocol error': call('none'),
    'unknown method': { method: 'none' },
    'refused header': { ...call('silent'), headers: { 'mcp-name': 'other' } },
    'refused type': { ...call('silent'), headers: { 'content-type': 'text/plain' } }
  }
  for (const [kind, parts] of Object.entries(answers)) {
    const { headers } = await post(t, url, from('https://app.example.com', parts))
    t.equal(headers['access-control-allow-origin'], 'https://app.example.com', kind)
    t.match(headers.vary, /Origin/i)
    t.match(headers['access-control-expose-headers'], /Mcp-Method/i)
    const evil = await post(t, url, from('https://evil.example.com', parts))
    t.equal(evil.status, 403)
    t.notOk('access-control-allow-origin' in evil.headers)
    t.notOk(
      'access-control-allow-origin' in (await post(t, url, parts)).headers,
      'what is no web page needs no such header'
    )
  }
  const listening = await openStream(
    t, url, from('https://app.example.com', { method: 'subscriptions/listen', params: { notifications: {} } })
  )
  t.equal(listening.headers['access-control-allow-origin'], 'https://app.example.com')
  t.equal(listening.headers['x-accel-buffering'], 'no')
})

t.test('a web page may ask beforehand whether it may call', async (t) => {
  const app = await buildApp(t, FILES, { allowedOrigins: ['https://app.example.com'] })
  const ask = async (origin: string) => await app.inject({
    method: 'OPTIONS',
    url: '/mcp',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,mcp-protocol-version,mcp-method,mcp-name,authorization'
    }
  })
  const allowed = await ask('https://app.example.com')
  t.equal(allowed.statusCode, 204)
  t.match(allowed.headers, {
    'access-control-allow-origin': 'https://app.example.com',
    'access-control-allow-methods': /POST/,
    'access-control-allow-headers': /mcp-method.*authorization/i
  })
  const refused = await ask('https://evil.example.com')
  t.equal(refused.statusCode, 403)
  t.notOk('access-control-allow-origin' in refused.headers)
})

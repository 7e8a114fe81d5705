// Answers over a real socket: one JSON body, or a stream if notifications precede the result.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import type { Message } from '../../helpers/request.ts'
import { openStream, post, startRequest } from '../../helpers/stream.ts'
import { call, FILES, LEVELS, token } from './streaming-catalog.ts'

interface Service { readonly url: string, readonly state: () => Promise<Message> }

async function serve (t: Test, options: AppOptions = {}): Promise<Service> {
  const url = await listen(await buildApp(t, FILES, options))
  return { url, state: async () => (await post(t, url, call('state'))).response.result.structuredContent }
}

t.test('answers with JSON, or with a stream after a notification (13, 18, 20, 242)', async (t) => {
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
  t.notOk(stream.hasEnded, 'a notification arrives before the tool has finished')
  await post(t, url, call('open', { gate: 'g1' }))
  t.strictSame((await stream.next()).params, { progressToken: 'p', progress: 2, total: 2 })
  t.match(await stream.next(), { id: 1, result: { resultType: 'complete', content: [{ text: 'g1' }] } })
  await stream.ended()
  t.ok(stream.isComplete)
  t.equal(stream.messages.length, 3, 'the response is the last')
  for (const message of stream.messages) {
    t.notOk('id' in message && 'method' in message, 'no requests to the client (17, 62, 63)')
  }
})

t.test('progress has the request\'s token in its type, and only grows (237, 238, 241)', async (t) => {
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
  t.match(without.headers, { 'content-type': /^application\/json/ }, 'no progress without a token')
  for (const progressToken of [1.5, null, {}, true]) {
    t.match((await post(t, url, call('steps', {}, { progressToken }))).response.error, {
      code: -32602, message: /progressToken must be an integer or well-formed text/
    })
  }
})

t.test('sends log messages of the requested levels only (249, 250, 251, 252, 253)', async (t) => {
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

t.test('log data that has no JSON is left out of its message', async (t) => {
  const { url } = await serve(t)
  const { messages } = await post(
    t, url, call('logs_oddly', {}, { 'io.modelcontextprotocol/logLevel': 'error' })
  )
  t.match(messages, [
    { params: { data: 'plain' } }, { params: { data: 'cycle' } }, { params: { data: 'bigint' } },
    { result: { content: [{ text: 'ok' }] } }
  ])
})

t.test('sends no message after the result (239, 251)', async (t) => {
  const { url, state } = await serve(t)
  const { messages } = await post(
    t, url, call('late', {}, { ...token(1), 'io.modelcontextprotocol/logLevel': 'debug' })
  )
  t.match(messages, [{ result: { content: [{ text: 'ok' }] } }])
  t.equal((await state()).started, 1)
})

t.test('an error after the stream has opened is its last event (57)', async (t) => {
  const { url } = await serve(t)
  const failed = await post(t, url, { ...call('speaks_and_fails', {}, token(1)), id: 'f' })
  t.equal(failed.status, 200)
  t.match(failed.messages.slice(1), [
    { id: 'f', error: { code: -32603, message: 'Internal error', data: { requestId: String } } }
  ])
  const refused = await post(t, url, call('speaks_and_refuses', {}, token(1)))
  t.match(refused.messages, [
    { method: 'notifications/progress' },
    { id: 1, result: { isError: true, content: [{ text: 'not today' }] } }
  ])
})

t.test('the checks that decide the HTTP status run before a stream opens (103)', async (t) => {
  const { url } = await serve(t)
  const answer = await post(t, url, {
    ...call('speaks', { text: 'x' }, token(1)), headers: { 'mcp-name': 'other' }
  })
  t.equal(answer.status, 400)
  t.match(answer.headers, { 'content-type': /^application\/json/ })
})

t.test('a closed connection aborts its request\'s signal (22, 23, 24, 243, 247)', async (t) => {
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
    'a closed connection is not logged as an error'
  )
  for (const name of ['speaks_and_hangs', 'hangs']) {
    await until(
      () => log.lines.some(({ msg, outcome, ...line }) => (
        msg === 'request' && line.name === name && outcome === 'cancelled'
      )),
      `the line of ${name}`
    )
  }
})

t.test('hooks of an embedding program run for every kind of answer', async (t) => {
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
  // The client receives what the service and the kernel have buffered.
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

t.test('comments keep the stream of a call alive (21)', async (t) => {
  const { url } = await serve(t, { keepAliveMs: 100 })
  const stream = await openStream(t, url, call('speaks_and_hangs', {}, token(1)))
  await until(() => stream.comments >= 2, 'two comments')
  t.equal(stream.messages.filter(({ method }) => method === 'notifications/progress').length, 1)
})

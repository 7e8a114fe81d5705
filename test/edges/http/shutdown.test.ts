// Shutdowns, with clients over real sockets.

import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { until, within } from '../../helpers/deadline.ts'
import type { RequestParts } from '../../helpers/request.ts'
import { openStream, post, startRequest } from '../../helpers/stream.ts'

const FILES = {
  'lib/shared.ts': 'export const state = { started: 0, reasons: [] }',
  'tools/all.ts': `
    import { defineTool } from 'trivet'
    import { state } from '../lib/shared.ts'
    const define = (name, run) => defineTool({ name, description: 'A tool.', run })
    const note = (ctx) => {
      state.started++
      ctx.signal.addEventListener('abort', () => state.reasons.push(ctx.signal.reason.message))
    }
    export default [
      define('takes_a_while', async (_, ctx) => {
        note(ctx)
        await new Promise((resolve) => setTimeout(resolve, 150))
        return 'done'
      }),
      define('streams_a_while', async (_, ctx) => {
        note(ctx)
        ctx.progress(1)
        await new Promise((resolve) => setTimeout(resolve, 150))
        ctx.progress(2)
        return 'done'
      }),
      define('never_ends', async (_, ctx) => { note(ctx); await new Promise(() => {}) }),
      define('streams_for_ever', async (_, ctx) => {
        note(ctx)
        ctx.progress(1)
        await new Promise(() => {})
      }),
      define('floods', async (_, ctx) => {
        for (let i = 0; !ctx.signal.aborted; i++) {
          ctx.progress(i, 1, 'x'.repeat(10_000))
          await new Promise(setImmediate)
        }
      }),
      define('state', () => state)
    ]`
}

interface Service { readonly app: FastifyInstance, readonly url: string }

async function serve (t: Test, options: AppOptions = {}): Promise<Service> {
  const app = await buildApp(t, FILES, options)
  return { app, url: await listen(app) }
}

const call = (name: string, meta: object = {}): RequestParts => ({
  method: 'tools/call', params: { name }, meta: { ...meta }
})

async function untilStarted (t: Test, url: string, count: number): Promise<void> {
  await until(
    async () => (await post(t, url, call('state'))).response.result.structuredContent.started >= count,
    'the requests to be served'
  )
}

/** Far less than the deadlines that must not be waited for. The machine may be busy. */
const SOON_MS = 4000

/** Closes the app and returns how long that took, in milliseconds. */
async function timeClose (app: FastifyInstance): Promise<number> {
  const started = performance.now()
  await within(app.close(), 'the app to close', 10_000)
  return performance.now() - started
}

t.test('ends streams with their result, without delay (204)', async (t) => {
  const { app, url } = await serve(t)
  const streams = await Promise.all(
    [1, 'two'].map(
      async (id) => await openStream(t, url, {
        method: 'subscriptions/listen', params: { notifications: {} }, id
      })
    )
  )
  for (const stream of streams) await stream.next()
  t.ok(await timeClose(app) < SOON_MS)
  for (const [index, stream] of streams.entries()) {
    await stream.ended()
    t.ok(stream.isComplete)
    t.match(stream.response, {
      id: [1, 'two'][index],
      result: {
        resultType: 'complete', _meta: { 'io.modelcontextprotocol/subscriptionId': [1, 'two'][index] }
      }
    })
    t.equal(stream.messages.length, 2)
  }
})

t.test('lets requests finish that are being served, as JSON or as a stream', async (t) => {
  const { app, url } = await serve(t)
  const plain = startRequest(t, url, call('takes_a_while'))
  const stream = await openStream(t, url, call('streams_a_while', { progressToken: 1 }))
  await untilStarted(t, url, 2)
  t.ok(await timeClose(app) < SOON_MS)
  const answer = await (await plain.answer).ended()
  t.match(answer.response, { id: 1, result: { content: [{ text: 'done' }] } })
  await stream.ended()
  t.match(stream.messages, [
    { params: { progress: 1 } }, { params: { progress: 2 } },
    { id: 1, result: { content: [{ text: 'done' }] } }
  ])
})

t.test('ends requests at the deadline with an error, and aborts their signals', async (t) => {
  const { app, url } = await serve(t, { shutdownTimeoutMs: 200 })
  const plain = startRequest(t, url, call('never_ends'))
  const stream = await openStream(t, url, { ...call('streams_for_ever', { progressToken: 1 }), id: 's' })
  await untilStarted(t, url, 2)
  const took = await timeClose(app)
  t.ok(took >= 190 && took < SOON_MS, `${took} ms, with a deadline of 200`)
  const answer = await (await plain.answer).ended()
  t.equal(answer.status, 200)
  t.match(answer.response, { id: 1, error: { code: -32603, message: 'The request was cancelled' } })
  await stream.ended()
  t.match(stream.response, { id: 's', error: { code: -32603, message: 'The request was cancelled' } })
})

t.test('a client that does not read does not delay the shutdown', async (t) => {
  const { app, url } = await serve(t, { shutdownTimeoutMs: 200 })
  await openStream(t, url, call('floods', { progressToken: 1 }), { paused: true })
  const took = await timeClose(app)
  t.ok(took < SOON_MS, `${took} ms, with a deadline of 200`)
})

t.test('a deadline of 0 ends every request at once', async (t) => {
  const { app, url } = await serve(t, { shutdownTimeoutMs: 0 })
  const plain = startRequest(t, url, call('never_ends'))
  await untilStarted(t, url, 1)
  t.ok(await timeClose(app) < SOON_MS)
  t.match((await (await plain.answer).ended()).response, { error: { code: -32603 } })
})

t.test('is ready until the shutdown, and accepts no new request afterwards', async (t) => {
  const { app, url } = await serve(t, { shutdownTimeoutMs: 300 })
  const { origin, port } = new URL(url)
  const statusOf = async (path: string) => await new Promise<number | undefined>((resolve, reject) => {
    get(origin + path, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
  t.equal(await statusOf('/readyz'), 200)
  t.equal(await statusOf('/livez'), 200)

  // A connection that is in use, on which a second request is sent during the shutdown.
  const socket = connect(Number(port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => { received += chunk }).on('error', () => {})
  const hanging = startRequest(t, url, call('never_ends'))
  await untilStarted(t, url, 1)
  const toHead = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
  socket.write(`${toHead('/livez')}\r\n${toHead('/readyz')}`)
  await until(() => received.includes('{"status":"ok"}'), 'the first answer')

  const closing = app.close()
  await t.rejects(statusOf('/readyz'), 'refuses new connections')
  socket.write('\r\n')
  await until(() => /HTTP\/1\.1 503/.test(received) || socket.destroyed, 'a refusal')
  t.notMatch(received.slice(received.indexOf('{"status":"ok"}') + 15), /HTTP\/1\.1 200/)
  await closing
  t.match((await (await hanging.answer).ended()).response, { error: { code: -32603 } })
})

t.test('kept-alive connections do not delay the shutdown', async (t) => {
  const { app, url } = await serve(t, { shutdownTimeoutMs: 9000 })
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  t.teardown(() => agent.destroy())
  await post(t, url, { method: 'tools/list' }, { agent })
  const busy = startRequest(t, url, call('takes_a_while'), { agent })
  await untilStarted(t, url, 1)
  const idle = await post(t, url, { method: 'tools/list' }, { agent })
  t.equal(idle.headers.connection, 'keep-alive')
  t.ok(await timeClose(app) < SOON_MS)
  t.match((await (await busy.answer).ended()).response, { result: { content: [{ text: 'done' }] } })
})

t.test('connections without a request do not delay the shutdown, and may still send one', async (t) => {
  const { app, url } = await serve(t)
  const open = async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const silent = await open()
  const late = await open()
  const answer = once(late, 'data')
  const closed = once(silent.resume(), 'close')
  const closing = timeClose(app)
  late.write('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  t.match(String(await answer), 'HTTP/1.1 200')
  t.ok(await closing < SOON_MS)
  await closed
})

t.test('parts of requests do not delay the shutdown, and a body that moves is read', async (t) => {
  const { app, url } = await serve(t, { shutdownTimeoutMs: 9000 })
  const head = 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
  const livez = 'GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
  const open = async (text: string) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    socket.write(text)
    return socket
  }
  const halves = [
    'POST /m', head, `${head}content-length: 1000\r\n\r\n{"json`, `${livez}GET /li`,
    `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"jso`
  ]
  for (const half of halves) (await open(half)).resume()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }).padEnd(100)
  const moving = await open(`${head}content-length: 100\r\n\r\n`)
  const answer = once(moving, 'data')
  // The service has read them.
  await pause(100)
  const closing = timeClose(app)
  for (let at = 0; at < 100; at += 10) {
    moving.write(body.slice(at, at + 10))
    await pause(300)
  }
  t.match(String(await answer), /^HTTP\/1\.1 [245]00/)
  t.ok(await closing < 6000)
})

t.test('closing is idempotent, and works before the app listens', async (t) => {
  const { app, url } = await serve(t)
  await post(t, url, { method: 'tools/list' })
  await Promise.all([app.close(), app.close()])
  await app.close()
  const silent = await buildApp(t, FILES, { watch: 'on' })
  t.ok(await timeClose(silent) < SOON_MS)
})

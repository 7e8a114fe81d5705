// Retries, the circuit breaker, and the limits of calls at once.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { defineUpstream, type UpstreamOptions } from '../../../src/platform/author/define-upstream.ts'
import type { UpstreamInit } from '../../../src/platform/author/upstream-fetch.ts'
import { compileUpstream } from '../../../src/features/upstreams/definition/compile-upstream.ts'
import type { AbortCall, UpstreamCaller } from '../../../src/catalog/compiled/upstreams/open-upstream.ts'
import { createUpstreams } from '../../../src/features/upstreams/upstreams.ts'
import { until } from '../../helpers/deadline.ts'
import { startUpstream, type UpstreamServer } from './upstream-server.ts'
import { NO_CREDENTIALS } from './no-credentials.ts'

const SETTINGS = { values: new Map(), secrets: new Map(), incomplete: new Set<object>() }

interface Opened {
  readonly outcomes: string[]
  readonly running: () => number
  /** Calls for a subject, or for nobody in particular. */
  fetch (init?: UpstreamInit & { readonly path?: string }, caller?: UpstreamCaller): Promise<Response>
  close (): Promise<void>
}

function callerOf (
  subject: string, leftMs = Infinity, onBegin: (abort: AbortCall) => void = () => {}
): UpstreamCaller {
  return {
    sender: { principal: { subject, scopes: new Set<string>() } },
    leftMs,
    begin (abort) {
      onBegin(abort)
      return () => {}
    },
    note () {},
    span: () => undefined
  }
}

async function open (
  t: Test, { url }: UpstreamServer, options: Partial<UpstreamOptions<Record<never, never>>> = {},
  workerCount = 1
): Promise<Opened> {
  const crm = { name: 'crm', url, auth: { type: 'none' }, allowPrivate: true } as const
  const definition = defineUpstream({ ...crm, ...options })
  const fail = (place: string, rule: string) => { throw new Error(`${place}: ${rule}`) }
  const compiled = compileUpstream(definition, SETTINGS, fail)
  if (compiled === undefined) throw new Error('not compiled')
  const outcomes: string[] = []
  const upstreams = createUpstreams({
    log: { debug () {}, warn () {} }, workerCount, credentials: NO_CREDENTIALS
  })
  upstreams.onCall = (_, outcome) => outcomes.push(outcome)
  const upstream = await upstreams.open(compiled)
  t.teardown(async () => await upstream.close())
  const ada = callerOf('ada')
  return {
    outcomes,
    running: () => upstreams.running.crm ?? 0,
    fetch: async ({ path = 'x', ...init } = {}, caller = ada) => await upstream.fetch(caller, path, init),
    close: async () => await upstream.close()
  }
}

const NO_PAUSE = { backoffMs: 0 }

t.test('repeats what may come twice, and never a POST or a PATCH', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.writeHead(503).end('later'))
  const { fetch, outcomes } = await open(t, upstream, { retry: { attempts: 3, ...NO_PAUSE } })
  for (const [method, requests] of [
    ['GET', 3], ['HEAD', 3], ['OPTIONS', 3], ['PUT', 3], ['DELETE', 3], ['POST', 1], ['PATCH', 1]
  ] as const) {
    const before = upstream.requests
    const answer = await fetch({ method, ...(method === 'PUT' && { body: 'the body' }) })
    t.equal(answer.status, 503, 'the last answer is returned')
    t.equal(upstream.requests - before, requests, method)
    await answer.text()
  }
  t.strictSame(new Set(outcomes), new Set(['server_error']))
  for (const status of [200, 201, 400, 401, 404, 409, 500, 501]) {
    const other = await startUpstream(t, (_, response) => response.writeHead(status).end())
    t.equal((await (await open(t, other, { retry: NO_PAUSE })).fetch()).status, status)
    t.equal(other.requests, 1, String(status))
  }
  for (const status of [429, 502, 504]) {
    const other = await startUpstream(t, (_, response) => response.writeHead(status).end())
    await (await open(t, other, { retry: NO_PAUSE })).fetch()
    t.equal(other.requests, 2, String(status))
  }
})

t.test('sends the whole body again', async (t) => {
  const bodies: string[] = []
  const upstream = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.writeHead(bodies.length === 1 ? 502 : 200).end()
  })
  const { fetch } = await open(t, upstream, { retry: NO_PAUSE })
  t.equal((await fetch({ method: 'PUT', body: 'the body' })).status, 200)
  t.strictSame(bodies, ['the body', 'the body'])
})

t.test('repeats after a lost connection, unless an answer had begun', async (t) => {
  let lost = 1
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/begun') {
      response.write('a')
      setTimeout(() => response.destroy(), 20)
    } else if (lost-- > 0) response.destroy()
    else response.end('ok')
  })
  const { fetch } = await open(t, upstream, { retry: NO_PAUSE })
  t.equal(await (await fetch()).text(), 'ok')
  t.equal(upstream.requests, 2)
  lost = 1
  await t.rejects(fetch({ method: 'POST' }), { code: 'unreachable' })
  t.equal(upstream.requests, 3)
  await t.rejects((await fetch({ path: 'begun' })).text(), { code: 'unreachable' })
  t.equal(upstream.requests, 4)
})

t.test('obeys Retry-After if its time is left, and returns the answer otherwise', async (t) => {
  let after = '1'
  const upstream = await startUpstream(t, (_, response) => {
    response.writeHead(429, { 'retry-after': after }).end('later')
  })
  const { fetch } = await open(t, upstream, { limits: { timeoutMs: 3000 }, retry: NO_PAUSE })
  let begin = performance.now()
  t.equal((await fetch()).status, 429)
  t.equal(upstream.requests, 2)
  t.ok(performance.now() - begin >= 990)
  after = new Date(Date.now() + 2000).toUTCString()
  begin = performance.now()
  await fetch()
  t.equal(upstream.requests, 4)
  t.ok(performance.now() - begin >= 900, 'a date')
  for (const [value, leftMs] of [['3', Infinity], ['3600', Infinity], ['1', 500]] as const) {
    after = value
    const before = upstream.requests
    begin = performance.now()
    t.equal(await (await fetch({}, callerOf('ada', leftMs))).text(), 'later', 'its body is there')
    t.equal(upstream.requests - before, 1, `${value} with ${leftMs}`)
    t.ok(performance.now() - begin < 900)
  }
  for (const value of ['-1', 'soon', '1.5', '']) {
    after = value
    const before = upstream.requests
    await fetch()
    t.equal(upstream.requests - before, 2, `no time: ${value}`)
  }
})

t.test('a call that waits for its next attempt ends with its time and with its request', async (t) => {
  const upstream = await startUpstream(t, (_, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end()
  })
  const { fetch, running } = await open(t, upstream, { limits: { timeoutMs: 2000 } })
  let abort: AbortCall = () => {}
  const stopped = fetch({}, callerOf('ada', Infinity, (one) => { abort = one }))
  await until(() => upstream.requests === 1, 'the request')
  await pause(20)
  abort(new Error('stopped'))
  await t.rejects(stopped, { message: 'stopped' })
  const controller = new AbortController()
  const own = fetch({ signal: controller.signal })
  await until(() => upstream.requests === 2, 'the second request')
  controller.abort(new Error('of the handler'))
  await t.rejects(own, { message: 'of the handler' })
  t.equal(running(), 0)
  await t.rejects(fetch({ signal: controller.signal }), { message: 'of the handler' })
})

t.test('the circuit opens after failures of the connection, and closes again', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  const port = Number(new URL(upstream.url).port)
  upstream.server.close()
  const { fetch, outcomes } = await open(t, upstream, { retry: false })
  for (let count = 0; count < 5; count++) await t.rejects(fetch(), { code: 'unreachable' })
  await t.rejects(fetch(), { code: 'unavailable' }, 'for the caller alone')
  for (let count = 0; count < 2; count++) {
    await t.rejects(fetch({}, callerOf('grace')), { code: 'unreachable' }, 'another caller')
  }
  await t.rejects(fetch({}, callerOf('alan')), {
    code: 'unavailable',
    message: 'The service crm has failed several times, and is not asked for some seconds. Try again later.'
  })
  const again = await startUpstream(t, (_, response) => { setTimeout(() => response.end('ok'), 50) }, port)
  await t.rejects(fetch(), { code: 'unavailable' }, 'also once it is back')
  t.equal(again.requests, 0)
  await pause(5100)
  const results = await Promise.allSettled([fetch(), fetch(), fetch()])
  t.strictSame(results.map(({ status }) => status), ['fulfilled', 'rejected', 'rejected'], 'one call tries')
  t.equal((await fetch()).status, 200)
  t.equal(outcomes.filter((one) => one === 'unavailable').length, 5)
})

t.test('timeouts and statuses of one caller do not open the circuit, those of several do', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/500') response.writeHead(500).end()
    else if (url === '/api/ok') response.end('ok')
  })
  const { fetch } = await open(t, upstream, { limits: { timeoutMs: 50 }, retry: false })
  for (let count = 0; count < 8; count++) {
    await t.rejects(fetch({ path: 'hang' }), { code: 'timeout' })
    t.equal((await fetch({ path: '500' })).status, 500)
  }
  t.equal((await fetch({ path: 'ok' }, callerOf('grace'))).status, 200)
  for (const subject of ['a', 'b', 'c', 'd', 'e']) {
    t.equal((await fetch({ path: '500' }, callerOf(subject))).status, 500)
  }
  await t.rejects(fetch({ path: 'ok' }), { code: 'unavailable' })
})

t.test('a call that its request stops says nothing of the upstream', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => { if (url === '/api/ok') response.end() })
  const { fetch, outcomes } = await open(t, upstream, { retry: false })
  for (let count = 0; count < 12; count++) {
    let abort: AbortCall = () => {}
    const call = fetch({}, callerOf(`s${count}`, Infinity, (one) => { abort = one }))
    const before = upstream.requests
    await until(() => upstream.requests > before || upstream.sockets.size > 0, 'the request')
    abort(new Error('gone'))
    await t.rejects(call, { message: 'gone' })
  }
  t.equal((await fetch({ path: 'ok' })).status, 200)
  t.strictSame(new Set(outcomes.slice(0, -1)), new Set(['cancelled']))
})

t.test('a principal cannot take all places, and a place is free again when the body was read', async (t) => {
  const waiting: Array<() => void> = []
  const upstream = await startUpstream(t, (_, response) => {
    response.write('a')
    waiting.push(() => response.end('b'))
  })
  const { fetch, running } = await open(t, upstream, { limits: { running: 4 } })
  const first = await Promise.all([fetch(), fetch()])
  await t.rejects(fetch(), {
    code: 'busy', message: 'The service crm has too many calls at once. Try again later.'
  })
  const second = await Promise.all([fetch({}, callerOf('grace')), fetch({}, callerOf('grace'))])
  await t.rejects(fetch({}, callerOf('alan')), { code: 'busy' }, 'all places')
  t.equal(running(), 4)
  for (const end of waiting) end()
  for (const answer of [...first, ...second]) t.equal(await answer.text(), 'ab')
  t.equal(running(), 0)
  t.equal((await fetch()).status, 200)
})

t.test('each worker has its part of the places', async (t) => {
  const upstream = await startUpstream(t, () => {})
  const { fetch } = await open(t, upstream, { limits: { running: 8, timeoutMs: 300 } }, 4)
  const calls = [fetch(), fetch({}, callerOf('grace'))]
  await t.rejects(fetch({}, callerOf('alan')), { code: 'busy' })
  await Promise.all(calls.map(async (call) => await t.rejects(call, { code: 'timeout' })))
})

t.test('a thousand calls at once', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => response.end(url))
  const { fetch, running, outcomes } = await open(t, upstream, { limits: { running: 2000 } })
  const texts = await Promise.all(Array.from({ length: 1000 }, async (_, index) => {
    return await (await fetch({ path: `n/${index}` }, callerOf(`s${index % 10}`))).text()
  }))
  t.strictSame(texts, Array.from({ length: 1000 }, (_, index) => `/api/n/${index}`))
  t.equal(running(), 0)
  t.equal(outcomes.filter((one) => one === 'ok').length, 1000)
})

t.test('closing ends what runs', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/body') response.write('a')
  })
  const { fetch, close, running } = await open(t, upstream)
  const head = fetch()
  const body = (await fetch({ path: 'body' })).text()
  const begin = performance.now()
  await Promise.all([
    t.rejects(head, { code: 'unreachable' }), t.rejects(body, { code: 'unreachable' }), close()
  ])
  t.ok(performance.now() - begin < 1000)
  await until(() => upstream.sockets.size === 0, 'the connections to be closed')
  await t.rejects(fetch(), { code: 'unreachable' })
  t.equal(running(), 0)
})

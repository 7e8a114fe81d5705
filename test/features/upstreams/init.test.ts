// What `init` may be, and what a call makes of it.

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { UpstreamInit } from '../../../src/platform/author/upstream-fetch.ts'
import { ADA, endOf, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

t.test('what is no init is a TypeError that says what is expected', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  const { fetch, upstream: crm } = openUpstream(t, upstream)
  const fake = { aborted: false, throwIfAborted () {}, addEventListener () {}, removeEventListener: null }
  for (const [init, message] of [
    [null, /^fetch: init must be an object$/],
    ['GET', /^fetch: init must be an object$/],
    [{ headers: [['x-a', 'b']] }, /^fetch: headers must be a Headers, or an object/],
    [{ headers: new Map([['x-a', 'b']]) }, /^fetch: headers must be a Headers/],
    [{ headers: 'x-a: b' }, /^fetch: headers must be a Headers/],
    [{ headers: null }, /^fetch: headers must be a Headers/],
    [{ headers: { 'x-a': null } }, /^fetch: the header x-a must be a text$/],
    [{ headers: { 'x-a': ['b'] } }, /^fetch: the header x-a must be a text$/],
    [{ query: 'a=b' }, /^fetch: query must be a URLSearchParams, or an object/],
    [{ query: new Map([['a', 'b']]) }, /^fetch: query must be a URLSearchParams/],
    [{ query: [['a', 'b']] }, /^fetch: query must be a URLSearchParams/],
    [{ query: null }, /^fetch: query must be a URLSearchParams/],
    [{ query: { a: null } }, /^fetch: "a" in query must be a text, a number or a boolean$/],
    [{ query: { a: { b: 1 } } }, /^fetch: "a" in query must be/],
    [{ accept: [] }, /^fetch: accept must be media types, such as application\/json$/],
    [{ signal: fake }, /^fetch: signal must be an AbortSignal$/],
    [{ signal: {} }, /^fetch: signal must be an AbortSignal$/]
  ] as const) {
    await t.rejects(fetch(ADA, 'x', init as unknown as UpstreamInit), { name: 'TypeError', message })
  }
  t.equal(upstream.requests, 0)
  t.equal(crm.running, 0)
  for (const init of [{ body: null }, { method: 'POST', body: null }, { signal: null }] as const) {
    t.equal(await endOf(fetch(ADA, 'x', init)), 200)
  }
})

t.test('a signal that fails keeps no place', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  const { fetch, upstream: crm } = openUpstream(t, upstream)
  const { signal } = new AbortController()
  signal.removeEventListener = () => { throw new Error('no') }
  await fetch(ADA, 'x', { signal }).catch(() => {})
  t.equal(crm.running, 0)
})

t.test('many calls may listen to one signal', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  const { fetch } = openUpstream(t, upstream)
  const warned = once(process, 'warning').then(([warning]) => warning)
  const { signal } = new AbortController()
  await Promise.all(Array.from({ length: 20 }, async () => await endOf(fetch(ADA, 'x', { signal }))))
  t.equal(await Promise.race([warned, pause(50, 'none')]), 'none')
})

t.test('the credential comes before the defaults, and the handler cannot replace it', async (t) => {
  const seen: Array<{ readonly [name: string]: unknown }> = []
  const upstream = await startUpstream(t, ({ headers }, response) => {
    seen.push(headers)
    response.end('ok')
  })
  const own = {
    accept: 'text/own', 'accept-encoding': 'identity', 'user-agent': 'own', 'content-type': 'text/own'
  }
  const { fetch } = openUpstream(t, upstream, { credential: { headers: () => own } })
  t.equal(await endOf(fetch(ADA, 'x', { method: 'POST', json: 1 })), 200)
  t.match(seen[0], own)
  await t.rejects(fetch(ADA, 'x', { headers: { Accept: 'a/b' } }), {
    message: 'fetch: the header accept is set by auth of the upstream crm'
  })
  const credential = { headers: () => ({ constructor: 'a' }) }
  const { fetch: plain } = openUpstream(t, upstream, { credential })
  t.equal(await endOf(plain(ADA, 'x', { method: 'POST', json: 1, headers: { accept: 'a/b' } })), 200)
  t.match(seen[1], {
    constructor: 'a',
    accept: 'a/b',
    'accept-encoding': 'gzip, br',
    'user-agent': 'trivet',
    'content-type': 'application/json'
  })
})

t.test('bytes are sent again as they were, whatever the handler does with them', async (t) => {
  const bodies: string[] = []
  const upstream = await startUpstream(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.writeHead(bodies.length % 2 === 1 ? 503 : 200).end()
  })
  const { fetch } = openUpstream(t, upstream, { retry: { backoffMs: 100 } })
  for (const body of [Buffer.from('text'), new Uint8Array(Buffer.from('text')).buffer]) {
    const call = endOf(fetch(ADA, 'x', { method: 'PUT', body }))
    const own = body instanceof Uint8Array ? body : new Uint8Array(body)
    own.fill(0)
    t.equal(await call, 200)
  }
  t.strictSame(bodies, ['text', 'text', 'text', 'text'])
})

t.test('Retry-After of no time pauses as long as an attempt without it', async (t) => {
  for (const after of ['0', 'Wed, 01 Jan 2020 00:00:00 GMT']) {
    const upstream = await startUpstream(t, (_, response) => {
      response.writeHead(503, { 'retry-after': after }).end()
    })
    const { fetch } = openUpstream(t, upstream, { retry: { attempts: 2, backoffMs: 400 } })
    const begin = performance.now()
    t.equal(await endOf(fetch(ADA)), 503)
    t.equal(upstream.requests, 2)
    t.ok(performance.now() - begin >= 190, after)
  }
})

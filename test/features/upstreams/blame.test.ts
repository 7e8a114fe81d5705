// Which failures open the circuit: those that any caller would have, and not those that one caller can cause.

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { ADA, callerOf, endOf, GRACE, openUpstream } from './open-upstream.ts'
import { startUpstream } from './upstream-server.ts'

const SUBJECTS = ['a', 'b', 'c', 'd', 'e']

t.test('no caller can open the circuit for others', async (t) => {
  const broken = gzipSync('x'.repeat(1000)).subarray(0, 20)
  const upstream = await startUpstream(t, ({ url }, response) => {
    switch (url) {
      case '/api/reset': return response.socket?.resetAndDestroy()
      case '/api/header': return response.setHeader('x', 'a'.repeat(20_000)).end()
      case '/api/no-http': return response.socket?.end('no http\r\n\r\n')
      case '/api/gzip': return response.setHeader('content-encoding', 'gzip').end(broken)
      case '/api/body': {
        response.write('a')
        return setTimeout(() => response.socket?.resetAndDestroy(), 10)
      }
      default: return response.end('ok')
    }
  })
  for (const path of ['reset', 'header', 'no-http', 'gzip', 'body']) {
    const { fetch } = openUpstream(t, upstream)
    for (let count = 0; count < 8; count++) t.equal(await endOf(fetch(ADA, path)), 'unreachable', path)
    t.equal(await endOf(fetch(GRACE)), 200, path)
  }
  for (const caller of [
    (index: number) => callerOf({ subject: 'ada', issuer: 'https://i', clientId: `c${index}` }),
    (index: number) => callerOf({}, `2001:db8:0:${index}::1`),
    (index: number) => callerOf({}, `192.0.2.${index}`)
  ]) {
    const { fetch } = openUpstream(t, upstream)
    for (let index = 0; index < 8; index++) await endOf(fetch(caller(index), 'reset'))
    t.equal(await endOf(fetch(GRACE)), 200)
  }
})

t.test('several callers together open it', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.destroy())
  const { fetch } = openUpstream(t, upstream)
  for (const subject of SUBJECTS) await endOf(fetch(callerOf({ subject })))
  t.equal(await endOf(fetch(GRACE)), 'unavailable')
  const { fetch: other } = openUpstream(t, upstream)
  for (const issuer of SUBJECTS) await endOf(other(callerOf({ subject: 'ada', issuer })))
  t.equal(await endOf(other(GRACE)), 'unavailable', 'subjects of several issuers are several')
})

t.test('a connection that fails opens it for who has it, and of two callers for all', async (t) => {
  const gone = await startUpstream(t, () => {})
  await new Promise((resolve) => { gone.server.close(resolve) })
  const plain = await startUpstream(t, () => {})
  for (const url of [gone.url, 'http://host.invalid/', plain.url.replace('http:', 'https:')]) {
    const { fetch } = openUpstream(t, { url })
    for (let count = 0; count < 5; count++) t.equal(await endOf(fetch(ADA)), 'unreachable', url)
    for (const clientId of ['c', 'd']) {
      t.equal(await endOf(fetch(callerOf({ subject: 'ada', clientId }))), 'unavailable', url)
    }
    for (let count = 0; count < 2; count++) t.equal(await endOf(fetch(GRACE)), 'unreachable', url)
    t.equal(await endOf(fetch(callerOf({ subject: 'alan' }))), 'unavailable', url)
  }
})

t.test('a connection that hangs opens the circuit of its caller alone', async (t) => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  const { port } = server.address() as AddressInfo
  const { fetch } = openUpstream(t, { url: `https://127.0.0.1:${port}/api` }, { limits: { timeoutMs: 100 } })
  for (let count = 0; count < 5; count++) t.equal(await endOf(fetch(ADA)), 'timeout')
  t.equal(await endOf(fetch(ADA)), 'unavailable')
  t.equal(await endOf(fetch(GRACE)), 'timeout')
})

t.test('an answer that cannot be used says nothing of the upstream', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/large') response.end('x'.repeat(2000))
    else if (url === '/api/away') response.writeHead(302, { location: 'http://other.invalid/' }).end()
    else response.end('ok')
  })
  const { fetch } = openUpstream(t, upstream, { limits: { answerBytes: 1000 } })
  for (const [path, code] of [['large', 'too_large'], ['away', 'redirected']] as const) {
    for (const subject of SUBJECTS) t.equal(await endOf(fetch(callerOf({ subject }), path)), code)
    t.equal(await endOf(fetch(GRACE)), 200)
  }
})

t.test('calls of the service itself open it for all', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.destroy())
  const { fetch } = openUpstream(t, upstream)
  const own = { ...callerOf({}), isService: true }
  for (let count = 0; count < 5; count++) t.equal(await endOf(fetch(own)), 'unreachable')
  t.equal(await endOf(fetch(GRACE)), 'unavailable')
})

t.test('a network of anonymous callers has a circuit of its own', async (t) => {
  const gone = await startUpstream(t, () => {})
  await new Promise((resolve) => { gone.server.close(resolve) })
  const { fetch } = openUpstream(t, gone)
  for (let count = 0; count < 5; count++) {
    t.equal(await endOf(fetch(callerOf({}, `2001:db8::${count}`))), 'unreachable')
  }
  t.equal(await endOf(fetch(callerOf({}, '2001:db8::9'))), 'unavailable')
  t.equal(await endOf(fetch(callerOf({}, '192.0.2.1'))), 'unreachable')
})

t.test('a call that cannot be sent is a TypeError, and no failure of the upstream', async (t) => {
  const upstream = await startUpstream(t, (_, response) => response.end('ok'))
  const { fetch } = openUpstream(t, upstream, {
    // A credential that sets what undici does not send.
    credential: { headers: ({ principal }) => principal.subject === 'ada' ? { upgrade: 'x' } : {} }
  })
  for (let count = 0; count < 8; count++) {
    await t.rejects(fetch(ADA), { name: 'TypeError', message: /^fetch: the call cannot be sent: / })
    await t.rejects(fetch(GRACE, 'x', { accept: 'text/plain;a=\u0142' }), { name: 'TypeError' })
  }
  t.equal(await endOf(fetch(GRACE)), 200)
})

t.test('an answer that its handlers do not read is no fault of the upstream', async (t) => {
  const upstream = await startUpstream(t, ({ url }, response) => {
    if (url === '/api/large') response.end(Buffer.alloc(5_000_000))
    else if (url === '/api/hang') response.write('a')
    else response.end('ok')
  })
  // All calls that hang have an answer before the first of them has timed out.
  const { fetch } = openUpstream(t, upstream, { limits: { timeoutMs: 800 } })
  const calls = SUBJECTS.map(async (subject) => await fetch(callerOf({ subject }), 'large'))
  const unread = await Promise.all(calls)
  await pause(900)
  for (const answer of unread) await t.rejects(answer.text(), { code: 'timeout' })
  t.equal(await endOf(fetch(GRACE)), 200)
  await Promise.all(SUBJECTS.map(async (subject) => {
    t.equal(await endOf(fetch(callerOf({ subject }), 'hang')), 'timeout')
  }))
  t.equal(await endOf(fetch(GRACE)), 'unavailable', 'one that hangs is')
})

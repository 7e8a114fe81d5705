// Which requests HAProxy sends again, and which connections it closes, configured by docker-compose.yml.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { hasHaproxy, startHaproxy } from '../servers/haproxy.ts'
import { startService } from '../helpers/service.ts'
import { openStream } from '../helpers/stream.ts'

const REQUESTS = 12

interface Stub { readonly port: number, readonly posts: () => number, readonly checks: () => number }

/** In place of a replica. Answers POST by the listener, and /readyz with the status. */
async function startStub (t: Test, post: RequestListener, readiness = 200): Promise<Stub> {
  let [posts, checks] = [0, 0]
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      posts++
      post(request, response)
    } else {
      checks++
      response.writeHead(readiness).end()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, posts: () => posts, checks: () => checks }
}

async function startStubs (t: Test, posts: readonly RequestListener[], readiness?: number) {
  const stubs = await Promise.all(posts.map(async (post) => await startStub(t, post, readiness)))
  return { stubs, origin: await startHaproxy(t, stubs.map(({ port }) => port)) }
}

const serve: RequestListener = (_, response) => { response.end('served') }
const refuse: RequestListener = (_, response) => { response.writeHead(503).end('refused') }
const breakOff: RequestListener = ({ socket }) => { socket.resetAndDestroy() }

/** Resolves to the HTTP statuses. Each request has a connection of its own. */
async function postAll (origin: string): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.length < REQUESTS) {
    const answer = await fetch(origin, { method: 'POST', body: '{}', headers: { connection: 'close' } })
    await answer.text()
    statuses.push(answer.status)
  }
  return statuses
}

const all = (status: number) => Array.from({ length: REQUESTS }, () => status)

if (hasHaproxy(t)) {
  t.test('another replica gets a request that one has refused with 503', async (t) => {
    const { stubs, origin } = await startStubs(t, [refuse, serve, refuse])
    t.strictSame(await postAll(origin), all(200))
    t.equal(stubs[1]?.posts(), REQUESTS)
    t.ok(stubs.every(({ posts }) => posts() > 0))
  })

  t.test('no other replica gets a request that one may have begun', async (t) => {
    const { stubs, origin } = await startStubs(t, [breakOff, breakOff, breakOff])
    t.strictSame(await postAll(origin), all(502))
    t.equal(stubs.reduce((sum, { posts }) => sum + posts(), 0), REQUESTS)
  })

  t.test('without a ready replica each is tried', async (t) => {
    const { stubs, origin } = await startStubs(t, [serve, serve, serve], 503)
    // Two failed checks make a replica unready.
    await until(() => stubs.every(({ checks }) => checks() > 2), 'the checks')
    t.strictSame(await postAll(origin), all(200))
    t.ok(stubs.every(({ posts }) => posts() > 0))
  })

  t.test('a stream with keep-alives stays open, a connection with slow headers is closed', async (t) => {
    const service = await startService(t, { TRIVET_KEEP_ALIVE_MS: '250', TRIVET_AUTH: 'none' })
    const ports = [1, 2, 3].map(() => Number(new URL(service.url).port))
    const origin = await startHaproxy(t, ports, [
      ['timeout client 60s', 'timeout client 1s'],
      ['timeout server 60s', 'timeout server 1s'],
      ['timeout http-request 10s', 'timeout http-request 1s']
    ])
    const stream = await openStream(t, `${origin}/mcp`, {
      method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }
    })
    await checkSlowHeaders(t, origin)
    await until(() => stream.comments > 12, 'keep-alives of three seconds', 10_000)
    t.notOk(stream.hasEnded)
  })
}

/** Sends a header byte by byte. */
async function checkSlowHeaders (t: Test, origin: string): Promise<void> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.on('error', () => {})
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => { answer += text })
  const closed = once(socket, 'close').then(() => true)
  socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ')
  const writing = setInterval(() => { socket.write('a') }, 100)
  t.teardown(() => clearInterval(writing))
  t.ok(await within(closed, 'the end of the connection'))
  t.match(answer, /^HTTP\/1\.1 408 /)
}

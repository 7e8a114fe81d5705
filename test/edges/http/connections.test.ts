// The limits of connections, with real sockets.

import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import t, { type Test } from 'tap'
import { createRangeCheck } from '../../../src/edges/http/client-address.ts'
import { limitConnections, serveInTurn } from '../../../src/edges/http/connections/connections.ts'
import { createFastify } from '../../../src/edges/http/fastify.ts'
import { ArrivingBytes } from '../../../src/platform/limits/arriving-bytes.ts'
import { Limit } from '../../../src/platform/limits/limits.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost } from '../../helpers/request.ts'
import { call, FILES } from './streaming-catalog.ts'

const ANSWER = Buffer.alloc(10_000_000)

interface Observing { readonly stalled?: string[], readonly refused?: string[], readonly proxies?: string[] }

async function serve (
  t: Test, maxConnections: number, { stalled = [], refused = [], proxies = [] }: Observing = {}
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/large') response.end(ANSWER)
    else response.write('begun')
  })
  limitConnections(server, {
    maxConnections,
    headerBytes: new ArrivingBytes(new Limit('arrivingHeaders')),
    stallMs: 600,
    isProxy: createRangeCheck(proxies),
    onStalled: (client) => stalled.push(String(client)),
    onRefused: ({ message }) => refused.push(message)
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

function open (t: Test, port: number, path?: string, host = '127.0.0.1'): Socket {
  const socket = connect(port, host)
  socket.on('error', () => {})
  t.teardown(() => { socket.destroy() })
  if (path !== undefined) socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  return socket
}

const portOf = (server: Server) => (server.address() as AddressInfo).port
const countOf = async (server: Server) => await new Promise<number>((resolve, reject) => {
  server.getConnections((error, count) => error === null ? resolve(count) : reject(error))
})

t.test('closes the connections of clients that do not read, and no silent stream', async (t) => {
  const stalled: string[] = []
  const server = await serve(t, 100, { stalled })
  const silent = open(t, portOf(server), '/silent')
  silent.resume()
  for (let i = 0; i < 20; i++) open(t, portOf(server), '/large').pause()
  await until(async () => await countOf(server) === 21, 'the connections')
  await until(async () => await countOf(server) === 1, 'the end of the connections', 20_000)
  t.equal(stalled.length, 20)
  t.notOk(silent.destroyed)
})

t.test('accepts no connection over the limit', async (t) => {
  const server = await serve(t, 2)
  const sockets = [open(t, portOf(server)), open(t, portOf(server))]
  await until(async () => await countOf(server) === 2, 'the connections')
  const third = open(t, portOf(server))
  await until(() => third.destroyed, 'the end of the third')
  for (const socket of sockets) t.notOk(socket.destroyed)
})

/** An address of this machine that is not loopback, as a client elsewhere has. */
const ELSEWHERE = Object.values(networkInterfaces()).flat().find(
  (one) => one?.internal === false && one.family === 'IPv4'
)?.address ?? 'this machine has no address but loopback'

t.test('one network may have half of the connections, and is told 503 beyond it', async (t) => {
  const refused: string[] = []
  const server = await serve(t, 7, { refused })
  const openElsewhere = () => open(t, portOf(server), undefined, ELSEWHERE)
  const first = Array.from({ length: 4 }, openElsewhere)
  await until(async () => await countOf(server) === 4, 'the connections')
  const fifth = openElsewhere()
  let answer = ''
  fifth.on('data', (chunk) => { answer += chunk })
  await until(() => fifth.destroyed, 'the end of the fifth')
  t.match(answer, /^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\n\r\n$/s)
  t.match(refused, [/has 4 connections, half of the limit.*TRIVET_TRUSTED_PROXIES/])
  for (const socket of first) t.notOk(socket.destroyed)

  const others = Array.from({ length: 2 }, () => open(t, portOf(server)))
  await until(async () => await countOf(server) === 6, 'connections of this machine')
  first[0]?.destroy()
  await until(async () => await countOf(server) === 5, 'the end of the first')
  const next = openElsewhere()
  await until(async () => await countOf(server) === 6, 'a connection in its place')
  for (const socket of [next, ...others]) t.notOk(socket.destroyed)
})

t.test('a trusted proxy may have all connections', async (t) => {
  const server = await serve(t, 4, { proxies: [ELSEWHERE] })
  for (let i = 0; i < 4; i++) open(t, portOf(server), undefined, ELSEWHERE)
  await until(async () => await countOf(server) === 4, 'the connections')
})

t.test('serves the requests of one connection one after another', async (t) => {
  const url = new URL(await listen(await buildApp(t, FILES)))
  const toText = (id: number, tool: string, args: object = {}) => {
    const { headers, body } = toPost({ ...call(tool, args), id })
    const lines = Object.entries({ host: url.host, 'content-length': Buffer.byteLength(body), ...headers })
    return `POST /mcp HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${body}`
  }
  const socket = open(t, Number(url.port))
  let received = ''
  socket.on('data', (chunk) => { received += chunk })
  const idsOf = () => [...received.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))

  t.test('in their order, also if the first takes longest', async (t) => {
    const ids = Array.from({ length: 30 }, (_, index) => index + 1)
    socket.write(ids.map((id) => toText(id, 'silent', { text: 'a' })).join(''))
    await until(() => idsOf().length === ids.length, 'the answers', 20_000)
    t.strictSame(idsOf(), ids)
  })

  t.test('and closes a connection that sends too many ahead', async (t) => {
    socket.write(toText(100, 'hangs') + toText(101, 'silent').repeat(150))
    await until(() => socket.destroyed, 'the end of the connection', 20_000)
    t.notOk(idsOf().includes(101))
  })
})

t.test('a Host header that is sent twice is refused', async (t) => {
  const url = new URL(await listen(await buildApp(t, FILES)))
  const socket = open(t, Number(url.port))
  let received = ''
  socket.on('data', (chunk) => { received += chunk })
  socket.write('GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n')
  await until(() => received.includes('sent more than once'), 'the answer')
  t.match(received, /^HTTP\/1\.1 400 /)
})

t.test('requests ahead of their turn take room, and beyond it their connection is closed', async (t) => {
  const app = createFastify(createReadableLog('error').logger)
  const arrivingBytes = new ArrivingBytes(new Limit('arrivingBytes', 80_000))
  app.decorateRequest('address', { getter: () => '203.0.113.7' })
  app.addHook('onRequest', (request, reply, done) => {
    if (reply.raw.socket !== null) done()
    else serveInTurn(request, reply, arrivingBytes, done)
  })
  app.get('/hangs', () => new Promise(() => {}))
  app.get('/', () => 'answer')
  t.teardown(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const ask = (path: string, header = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`
  const client = open(t, Number(url.port))
  let received = ''
  client.on('data', (chunk) => { received += chunk })
  client.write(ask('/').repeat(5))
  await until(() => received.split('answer').length === 6, 'the answers')
  t.equal(arrivingBytes.total, 0)

  client.write(ask('/hangs') + ask('/').repeat(5))
  await until(() => arrivingBytes.total > 5 * 4096, 'the requests that wait')
  client.destroy()
  await until(() => arrivingBytes.total === 0, 'no bytes of a client that has left')

  for (const more of [ask('/', `X-Long: ${'x'.repeat(10_000)}\r\n`), ask('/', 'Content-Length: 90000\r\n')]) {
    const greedy = open(t, Number(url.port))
    greedy.write(ask('/hangs') + more.repeat(8))
    await until(() => greedy.destroyed, 'the end of the connection')
    t.equal(arrivingBytes.total, 0)
  }
})

// How a connection ends after its last answer, with real sockets.

import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { lingerBeforeClose } from '../../../src/edges/http/connections/lingering.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { toPost } from '../../helpers/request.ts'

const SLOW = 'async () => { await new Promise((resolve) => setTimeout(resolve, 300)); return "done" }'
const FILES = { 'tools/slow.ts': toolModule('slow', '', SLOW) }
const TOO_LARGE = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
  'Content-Length: 99999999999\r\n\r\n'

interface Client { readonly socket: Socket, received: string }

/** A client that does not close its side by itself. */
function open (t: Test, port: number): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const client = { socket, received: '' }
  socket.on('error', () => {}).on('data', (chunk) => { client.received += chunk.toString('latin1') })
  t.teardown(() => { socket.destroy() })
  return client
}

async function serve (t: Test): Promise<{ readonly app: FastifyInstance, readonly port: number }> {
  const app = await buildApp(t, FILES)
  return { app, port: Number(new URL(await listen(app)).port) }
}

const post = (body: string, length = Buffer.byteLength(body)): string => {
  const { headers } = toPost({ method: 'tools/call', params: { name: 'slow', arguments: {} } })
  const lines = Object.entries({ host: 'localhost', ...headers, 'content-length': length })
  return `POST /mcp HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${body}`
}
const CALL = toPost({ method: 'tools/call', params: { name: 'slow', arguments: {} } }).body
const statusesOf = ({ received }: Client) => {
  return Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)
}

const countOf = async (server: Pick<Server, 'getConnections'>) => {
  return await new Promise<number>((resolve, reject) => {
    server.getConnections((error, count) => error === null ? resolve(count) : reject(error))
  })
}

t.test('a body that is no JSON leaves its connection open for the requests behind it', async (t) => {
  const { port } = await serve(t)
  const client = open(t, port)
  client.socket.write(post('{"a":') + post(CALL))
  await until(() => statusesOf(client).length === 2, 'both answers')
  t.strictSame(statusesOf(client), ['400', '200'])
  t.notOk(client.socket.readableEnded)
})

t.test('a request is answered although bytes behind it are no request', async (t) => {
  const { port } = await serve(t)
  const client = open(t, port)
  client.socket.write(`${post(CALL)}}}}\r\n\r\n`)
  await until(() => client.socket.readableEnded, 'the end')
  t.strictSame(statusesOf(client), ['200', '400'])
  t.match(client.received, '"text":"done"')
})

t.test('a Content-Length that is too small is told as JSON that is cut off', async (t) => {
  const { port } = await serve(t)
  const client = open(t, port)
  client.socket.write(post(CALL, CALL.length - 3))
  await until(() => client.socket.readableEnded, 'the end')
  t.match(client.received, /^HTTP\/1\.1 400 [^]*-32700/)
})

t.test('a client that leaves ends its call, although bytes behind it are no request', async (t) => {
  const { app, port } = await serve(t)
  const client = open(t, port)
  client.socket.write(`${post(CALL)}}}}\r\n\r\n`)
  await pause(50)
  client.socket.end()
  await until(() => client.socket.destroyed || client.socket.readableEnded, 'the end')
  t.strictSame(statusesOf(client), [])
  await until(async () => await countOf(app.server) === 0, 'the end of the connection')
})

t.test('a sender that never stops is cut', { timeout: 60_000 }, async (t) => {
  const { app, port } = await serve(t)
  const { socket } = open(t, port)
  socket.write(TOO_LARGE)
  const chunk = Buffer.alloc(1_048_576)
  const write = () => { while (!socket.destroyed && socket.write(chunk)); }
  socket.on('drain', write)
  write()
  await until(() => socket.bytesRead > 0, 'the answer')
  await until(async () => await countOf(app.server) === 0, 'the end of the connection', 40_000)
  t.ok(socket.bytesWritten < 400_000_000, `${socket.bytesWritten} bytes`)
})

t.test('a client that does not close its side is cut', { timeout: 30_000 }, async (t) => {
  const { app, port } = await serve(t)
  const client = open(t, port)
  client.socket.write(TOO_LARGE)
  await until(() => client.socket.readableEnded, 'the answer')
  t.strictSame(statusesOf(client), ['413'])
  t.equal(await countOf(app.server), 1)
  await until(async () => await countOf(app.server) === 0, 'the end of the connection', 15_000)
})

t.test('a request behind the last answer does not run', async (t) => {
  const { port } = await serve(t)
  const client = open(t, port)
  client.socket.write(TOO_LARGE)
  await until(() => client.socket.readableEnded, 'the answer')
  client.socket.write(post(CALL))
  await pause(400)
  t.strictSame(statusesOf(client), ['413'])
})

t.test('a shutdown does not wait for clients that still send', async (t) => {
  const { app, port } = await serve(t)
  const client = open(t, port)
  client.socket.write(TOO_LARGE)
  await until(() => client.socket.readableEnded, 'the answer')
  const sending = setInterval(() => client.socket.write('x'), 20)
  t.teardown(() => clearInterval(sending))
  const begun = performance.now()
  await app.close()
  t.ok(performance.now() - begun < 5000, 'the connection is cut')
})

t.test('beyond a number of them the one goes that has lingered longest', async (t) => {
  const server = createServer((_, response) => response.setHeader('connection', 'close').end())
  lingerBeforeClose(server, 2)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const clients: Client[] = []
  for (let count = 0; count < 3; count++) {
    const client = open(t, port)
    clients.push(client)
    client.socket.write(TOO_LARGE)
    await until(() => client.socket.readableEnded, 'the answer')
  }
  await until(async () => await countOf(server) === 2, 'the end of the first')
  const [first, ...others] = clients
  await until(() => first?.socket.write('x') === false || first?.socket.destroyed === true, 'the reset')
  for (const { socket } of others) t.ok(socket.write('x'))
})

const NOT_JSON = (length: number) => 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n' +
  `Content-Length: ${length}\r\n\r\n`

t.test('a client that sends on and on after a refusal loses its connection, and no answer', async (t) => {
  const { app, port } = await serve(t)
  const client = open(t, port)
  let hasEnded = false
  client.socket.on('end', () => { hasEnded = true }).write(NOT_JSON(1_000_000_000))
  let bytes = 0
  await until(() => {
    bytes += client.socket.writableLength === 0 && client.socket.write(Buffer.alloc(65_536)) ? 65_536 : 0
    return hasEnded
  }, 'the end', 10_000)
  t.strictSame(statusesOf(client), ['415'])
  t.ok(bytes > 1_000_000, `${bytes} bytes`)
  client.socket.destroy()
  await until(async () => await countOf(app.server) === 0, 'no connection')
})

t.test('the rest of a refused body of an allowed size leaves its connection open', async (t) => {
  const { port } = await serve(t)
  const client = open(t, port)
  client.socket.write(NOT_JSON(900_000))
  await until(() => statusesOf(client).length === 1, 'the refusal')
  client.socket.write(Buffer.alloc(450_000))
  await pause(600)
  client.socket.write(Buffer.alloc(450_000))
  client.socket.write(post(CALL))
  await until(() => statusesOf(client).length === 2, 'the answer behind it')
  t.strictSame(statusesOf(client), ['415', '200'])
})

// Bodies that are read as a whole, with real sockets.

import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { readWhole } from '../../../src/edges/http/body/body-reader.ts'
import { createFastify } from '../../../src/edges/http/fastify.ts'
import { ArrivingBytes } from '../../../src/platform/limits/arriving-bytes.ts'
import { Limit } from '../../../src/platform/limits/limits.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'

async function serve (t: Test, maxArriving = 300_000) {
  const app = createFastify(createReadableLog('error').logger)
  const arrivingBytes = new ArrivingBytes(new Limit('arrivingBytes', maxArriving))
  app.decorateRequest('principal', { getter: () => ANONYMOUS })
  app.decorateRequest('address', { getter: () => '203.0.113.7' })
  app.removeAllContentTypeParsers()
  const seen: Array<[length: number, counted: number]> = []
  app.addContentTypeParser('text/x', readWhole({ maxBytes: 200_000, arrivingBytes }, (_, body, done) => {
    seen.push([body.length, arrivingBytes.total])
    done(null, body)
  }))
  app.setErrorHandler((error, _, reply) => {
    const status = error instanceof Error && 'httpStatus' in error ? Number(error.httpStatus) : 500
    return reply.code(status).send(String(error))
  })
  app.post('/', ({ body }) => String(body instanceof Buffer && body.length))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => await app.close())
  const { port } = app.server.address() as AddressInfo
  return { app, arrivingBytes, port, seen }
}

interface Client { readonly socket: Socket, received: string }

function send (t: Test, port: number, header: string, body: string): Client {
  const socket = connect(port, '127.0.0.1')
  const client = { socket, received: '' }
  socket.on('error', () => {}).on('data', (chunk) => { client.received += chunk.toString('latin1') })
  t.teardown(() => { socket.destroy() })
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/x\r\n${header}\r\n\r\n${body}`)
  return client
}

const LENGTH = 'Content-Length: 150000'
const PART = 'x'.repeat(140_000)

t.test('a body counts while it arrives, and no more when it has been parsed', async (t) => {
  const { arrivingBytes, port, seen } = await serve(t)
  const client = send(t, port, LENGTH, PART)
  await until(() => arrivingBytes.total > 130_000, 'the bytes')
  client.socket.write('x'.repeat(10_000))
  await until(() => client.received.endsWith('150000'), 'the answer')
  t.match(seen, [[150_000, /^1\d{5}$/]])
  t.equal(arrivingBytes.total, 0)
})

t.test('a body that comes whole is not counted', async (t) => {
  const { port, seen } = await serve(t)
  const client = send(t, port, 'Content-Length: 30000', 'x'.repeat(30_000))
  await until(() => client.received.endsWith('30000'), 'the answer')
  t.strictSame(seen, [[30_000, 0]])
})

t.test('a client that leaves frees its bytes', async (t) => {
  const { arrivingBytes, port } = await serve(t)
  for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
    const { socket } = send(t, port, LENGTH, PART)
    await until(() => arrivingBytes.total > 130_000, 'the bytes')
    socket[end]()
    await until(() => arrivingBytes.total === 0, 'no bytes')
  }
  t.equal(arrivingBytes.total, 0)
})

t.test('the oldest body gives way with 503, and its connection ends', async (t) => {
  const { arrivingBytes, port } = await serve(t)
  const first = send(t, port, LENGTH, PART)
  await until(() => arrivingBytes.total > 130_000, 'the bytes')
  const second = send(t, port, LENGTH, PART)
  await until(() => arrivingBytes.total > 270_000, 'the bytes of both')
  const third = send(t, port, 'Transfer-Encoding: chunked', `c350\r\n${'x'.repeat(50_000)}\r\n0\r\n\r\n`)
  await until(() => first.socket.readableEnded, 'the refusal')
  t.match(first.received, /^HTTP\/1\.1 503 [^]*connection: close/i)
  await until(() => third.received.endsWith('50000'), 'the answer to the third')
  second.socket.write('x'.repeat(10_000))
  await until(() => second.received.endsWith('150000'), 'the answer to the second')
  t.equal(arrivingBytes.total, 0)
})

t.test('a body in single bytes counts with what each of them takes', async (t) => {
  const { arrivingBytes, port } = await serve(t)
  send(t, port, 'Transfer-Encoding: chunked', '1\r\nx\r\n'.repeat(200))
  await until(() => arrivingBytes.total > 100_000, 'the bytes')
  t.pass()
})

t.test('a body that is too large is refused by its length, or when too much has come', async (t) => {
  const { arrivingBytes, port } = await serve(t)
  const declared = send(t, port, 'Content-Length: 200001', '')
  await until(() => declared.socket.readableEnded, 'the refusal')
  const chunked = send(t, port, 'Transfer-Encoding: chunked', `61a80\r\n${'x'.repeat(210_000)}`)
  await until(() => chunked.socket.readableEnded, 'the refusal')
  for (const { received } of [declared, chunked]) t.match(received, /^HTTP\/1\.1 413 [^]*larger than 200000 bytes/)
  t.equal(arrivingBytes.total, 0)
})

t.test('a body of another length than its header says is refused', async (t) => {
  const { app, arrivingBytes } = await serve(t)
  const headers = { 'content-type': 'text/x', 'content-length': '9' }
  t.equal((await app.inject({ method: 'POST', url: '/', headers, payload: 'four' })).statusCode, 400)
  t.equal(arrivingBytes.total, 0)
})

t.test('a stream of a plugin may be the body', async (t) => {
  const arrivingBytes = new ArrivingBytes(new Limit('arrivingBytes', 300_000))
  const app = createFastify(createReadableLog('error').logger)
  app.decorateRequest('principal', { getter: () => ANONYMOUS })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('text/x', readWhole({ maxBytes: 200_000, arrivingBytes }, (_, body, done) => {
    done(null, body.toString())
  }))
  let isBroken = false
  app.addHook('preParsing', async () => {
    const parts = async function * () {
      yield 'x'.repeat(5000)
      if (isBroken) throw new Error('broken off')
      yield 'y'
    }
    return Object.assign(Readable.from(parts()), { receivedEncodedLength: 4 })
  })
  app.post('/', ({ body }) => String(String(body).length))
  const post = async () => await app.inject({
    method: 'POST', url: '/', headers: { 'content-type': 'text/x', 'content-length': '4' }, payload: 'four'
  })
  t.equal((await post()).body, '5001')
  isBroken = true
  t.notOk((await post()).statusCode === 200)
  t.equal(arrivingBytes.total, 0)
  await app.close()
})

// Answers with bytes that are ready: on the wire they are as if they had been copied into one text.

import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createFastify } from '../../../src/edges/http/fastify.ts'
import { sendJson } from '../../../src/edges/http/json-reply.ts'
import { toResultResponse } from '../../../src/platform/protocol/json-rpc.ts'
import { createReadableLog } from '../../helpers/log.ts'

const RESULTS = new Map([
  ['/small', '{}'], ['/list', `{"tools":["${'é'.repeat(20_000)}"]}`], ['/large', `["${'x'.repeat(5_000_000)}"]`]
])
const ID = 'é"1'

/** A plugin whose hooks are for the whole app, as `fastify-plugin` makes it. */
const SKIP = { [Symbol.for('skip-override')]: true }

/** `writes` counts the writes of the sockets. Each costs a call of the operating system. */
async function listen (t: Test, { hasHook = false, isInPlugin = false } = {}) {
  const { logger, lines } = createReadableLog('warn')
  const app = createFastify(logger)
  const seen: unknown[] = []
  const addHook = (one: FastifyInstance) => one.addHook('onSend', (_, reply, payload, done) => {
    seen.push(payload)
    reply.header('x-seen', 'yes')
    done(null, payload)
  })
  if (hasHook && !isInPlugin) addHook(app)
  if (isInPlugin) await app.register(Object.assign(async (one: FastifyInstance) => { addHook(one) }, SKIP))
  for (const [path, result] of RESULTS) {
    const ready = Buffer.from(result)
    app.post(path, (_, reply) => { sendJson(reply, toResultResponse(ID, ready)) })
    app.post(`${path}/copied`, (_, reply) => {
      reply.header('content-type', 'application/json').send(Buffer.from(String(toResultResponse(ID, ready))))
    })
  }
  const counts = { writes: 0 }
  app.server.on('connection', (socket) => {
    const handle: unknown = Reflect.get(socket, '_handle')
    for (const name of ['writev', 'writeUtf8String', 'writeLatin1String', 'writeBuffer']) {
      const write: unknown = Reflect.get(Object(handle), name)
      Reflect.set(Object(handle), name, (...args: unknown[]) => {
        counts.writes++
        return Reflect.apply(write as () => unknown, handle, args)
      })
    }
  })
  t.teardown(async () => await app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { app, lines, seen, counts, port }
}

/** All that the client receives for the requests, which it sends at once, without the dates. */
async function receive (port: number, paths: readonly string[], readsLate = false): Promise<string> {
  const client = connect(port, '127.0.0.1')
  await once(client, 'connect')
  if (readsLate) client.pause()
  const last = paths.length - 1
  for (const [index, path] of paths.entries()) {
    client.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n` +
      `${index === last ? 'Connection: close\r\n' : ''}\r\n`)
  }
  if (readsLate) await new Promise((resolve) => setTimeout(resolve, 200))
  const chunks: Buffer[] = []
  for await (const chunk of client) chunks.push(chunk)
  return Buffer.concat(chunks).toString().replaceAll(/^Date: .*\r\n/gmi, '')
}

t.test('are what a copied answer is, also in turn on one connection and for a slow reader', async (t) => {
  const paths = [...RESULTS.keys(), ...RESULTS.keys()]
  for (const hasHook of [false, true]) {
    const { port } = await listen(t, { hasHook })
    for (const readsLate of [false, true]) {
      const received = await receive(port, paths, readsLate)
      t.ok(received === await receive(port, paths.map((path) => `${path}/copied`)))
      t.equal(received.split('x-seen: yes').length, (hasHook ? paths.length : 0) + 1, 'the headers of hooks')
    }
  }
})

t.test('are whole for the hooks of a program that embeds the service', async (t) => {
  for (const isInPlugin of [false, true]) {
    const { app, seen } = await listen(t, { hasHook: true, isInPlugin })
    const { body } = await app.inject({ method: 'POST', url: '/list' })
    t.equal(JSON.parse(body).id, ID)
    t.equal(String(seen[0]), body)
  }
})

t.test('take one write', async (t) => {
  const { port, counts } = await listen(t)
  await receive(port, ['/list'])
  t.equal(counts.writes, 1)
})

t.test('are whole without a socket', async (t) => {
  const { app } = await listen(t)
  const { body, headers } = await app.inject({ method: 'POST', url: '/list' })
  t.equal(JSON.parse(body).id, ID)
  t.equal(headers['content-length'], String(Buffer.byteLength(body)))
})

t.test('end with a client that leaves before them', async (t) => {
  const { lines, port } = await listen(t)
  const client = connect(port, '127.0.0.1')
  await once(client, 'connect')
  client.write('POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
  await once(client, 'readable')
  client.destroy()
  t.match(await receive(port, ['/small']), '"result":{}}', 'and others are served')
  t.strictSame(lines, [])
})

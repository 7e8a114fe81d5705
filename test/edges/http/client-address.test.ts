// Whose address a request has, and what nobody can make the service believe.

import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { isProxyRange } from '../../../src/base/addresses.ts'
import { clientAddressOf, createRangeCheck, rememberPeers } from '../../../src/edges/http/client-address.ts'
import { createFastify } from '../../../src/edges/http/fastify.ts'
import { readConfig } from '../../../src/ops/config/config.ts'
import { buildApp } from '../../helpers/app.ts'
import { until, within } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost } from '../../helpers/request.ts'

function build (t: Test, trustedProxies: readonly string[] = []): FastifyInstance {
  const app = createFastify(createReadableLog().logger, { trustedProxies })
  rememberPeers(app.server)
  t.teardown(async () => await app.close())
  app.get('/', (request) => String(clientAddressOf(request)))
  return app
}

async function addressOf (app: FastifyInstance, remoteAddress: string, forwarded?: string): Promise<string> {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return (await app.inject({ url: '/', remoteAddress, headers })).payload
}

t.test('without trusted proxies the address is that of the connection', async (t) => {
  const app = build(t)
  t.equal(await addressOf(app, '203.0.113.7'), '203.0.113.7')
  t.equal(await addressOf(app, '203.0.113.7', '198.51.100.1'), '203.0.113.7')
  t.equal(await addressOf(app, '127.0.0.1', '198.51.100.1'), '127.0.0.1')
})

t.test('a trusted proxy names the address, and nobody else does', async (t) => {
  const app = build(t, ['10.0.0.0/8', '2001:db8::5'])
  t.equal(await addressOf(app, '10.0.0.1', '198.51.100.1'), '198.51.100.1')
  t.equal(await addressOf(app, '::ffff:10.0.0.1', '198.51.100.1'), '198.51.100.1')
  t.equal(await addressOf(app, '2001:db8::5', '2001:db8:1::1'), '2001:db8:1::1')
  t.equal(await addressOf(app, '10.0.0.1'), '10.0.0.1', 'a request of the proxy itself')
  t.equal(await addressOf(app, '10.0.0.1', '198.51.100.1, 10.0.0.2'), '198.51.100.1', 'by way of two')
  t.equal(
    await addressOf(app, '10.0.0.1', '127.0.0.1, 198.51.100.1'), '198.51.100.1',
    'not what the client had sent itself'
  )
  t.equal(await addressOf(app, '203.0.113.7', '198.51.100.1'), '203.0.113.7')
  t.equal(await addressOf(app, '127.0.0.1', '198.51.100.1'), '127.0.0.1')
})

t.test('nobody on another machine is on this one', async (t) => {
  const app = build(t, ['10.0.0.0/8'])
  for (const forged of ['127.0.0.1', '127.9.9.9', '::1', '[::1]:80', '127.0.0.1:80', '::ffff:127.0.0.1']) {
    t.equal(await addressOf(app, '10.0.0.1', forged), '10.0.0.1', 'a proxy that adds nothing')
    t.equal(await addressOf(app, '10.0.0.1', `${forged}, 10.0.0.9`), '10.0.0.9', 'a client among the proxies')
  }
  const local = build(t, ['loopback', 'uniquelocal'])
  t.equal(await addressOf(local, '127.0.0.1', '127.0.0.1, 10.0.0.9'), '10.0.0.9', 'by way of a local proxy')
  t.equal(await addressOf(local, '127.0.0.1', '127.0.0.1'), '127.0.0.1', 'a client of a local proxy')
  t.equal(await addressOf(local, '127.0.0.1', '127.0.0.2, 127.0.0.1'), '127.0.0.2')
})

t.test('every setting that is accepted can be used', async (t) => {
  const TRIVET_TRUSTED_PROXIES = 'loopback,linklocal,uniquelocal,10.0.0.1,::/1,::ffff:10.0.0.0/104,0.0.0.0/32'
  t.equal(await addressOf(build(t, readConfig({ TRIVET_TRUSTED_PROXIES }).trustedProxies), '::1', 'x'), 'x')
})

t.test('a connection without addresses has none', async (t) => {
  const app = build(t, ['loopback'])
  const path = join(await makeFolder(t), 'socket')
  await app.listen({ path })
  const socket = createConnection(path)
  t.teardown(() => { socket.destroy() })
  socket.end('GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.1\r\nConnection: close\r\n\r\n')
  t.match(await textOf(socket), /undefined$/)
})

/** Resolves to a request whose client has left before anything read its address. */
async function leave (t: Test, app: FastifyInstance): Promise<FastifyRequest> {
  let received: FastifyRequest | undefined
  app.get('/left', (request, reply) => {
    received = request
    return reply.hijack()
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const socket = createConnection(Number(port), '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  socket.write('GET /left HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => received !== undefined, 'the request')
  socket.resetAndDestroy()
  await until(() => received?.socket.destroyed === true, 'the end of the connection')
  if (received === undefined) throw new TypeError('unreachable')
  return received
}

t.test('the address is known after the client has left', async (t) => {
  t.equal(clientAddressOf(await leave(t, build(t))), '127.0.0.1')
})

t.test('an address that cannot be found is not that of a Unix socket', async (t) => {
  const app = createFastify(createReadableLog().logger)
  t.teardown(async () => await app.close())
  t.equal(clientAddressOf(await leave(t, app)), 'unknown')
})

t.test('a trusted proxy decides neither the host nor the origin', async (t) => {
  const app = await buildApp(t, {}, { trustedProxies: ['loopback'] })
  const statusOf = async (added: { [name: string]: string }) => {
    const { headers, body } = toPost({ method: 'tools/list' })
    const answer = await app.inject({ method: 'POST', url: '/mcp', headers: { ...headers, ...added }, body })
    return answer.statusCode
  }
  t.equal(await statusOf({ host: 'localhost', 'x-forwarded-host': 'evil.example' }), 200)
  t.equal(await statusOf({ host: 'evil.example', 'x-forwarded-host': 'localhost' }), 403)
  t.equal(await statusOf({ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' }), 403)
})

async function textOf (socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => { text += chunk })
  await within(new Promise((resolve) => { socket.once('close', resolve) }), 'the end of the connection')
  return text
}

t.test('finds addresses in ranges, in both notations of IPv4', async (t) => {
  const isProxy = createRangeCheck(
    ['198.51.100.7', '203.0.113.0/24', '2001:db8::/32', 'loopback', 'uniquelocal']
  )
  for (const address of [
    '198.51.100.7', '::ffff:198.51.100.7', '203.0.113.255', '2001:db8:1::1', '127.0.0.9', '::1', '10.1.2.3',
    '172.31.0.1', '192.168.0.1', 'fd00::2'
  ]) t.ok(isProxy(address), address)
  for (const address of [
    '198.51.100.8', '203.0.114.0', '2001:db9::1', '172.32.0.1', '169.254.0.1', 'fe80::1', '', 'localhost'
  ]) t.notOk(isProxy(address), address)
  t.ok(createRangeCheck(['linklocal'])('169.254.0.1'))
  t.notOk(createRangeCheck([])('127.0.0.1'))
})

t.test('every range that is accepted can be checked', async (t) => {
  for (const range of ['::/1', '0.0.0.0/1', 'fe80::1', '::ffff:10.0.0.1/128', 'loopback', '10.0.0.1/32']) {
    t.ok(isProxyRange(range), range)
    t.doesNotThrow(() => createRangeCheck([range]), range)
  }
})

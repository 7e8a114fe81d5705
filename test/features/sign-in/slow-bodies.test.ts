// Clients of the authorization server that do not send what they have begun to send.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { createService } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { HELLO, startSignInService } from './sign-in-service.ts'

/** Begins a request whose body does not come. */
async function beginBody (origin: string, address: string): Promise<Socket> {
  const { port } = new URL(origin)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  socket.write(`POST /sign-in/token HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${address}\r\n` +
    'Content-Length: 50000\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\ngrant_type=')
  return socket
}

t.test('bodies that do not come keep nobody out, and a shutdown does not wait for them', async (t) => {
  const { app, origin } = await startSignInService(t, { trustedProxies: ['loopback'] })
  const attacker = '198.51.100.7'
  const sockets = await Promise.all(Array.from(
    { length: 200 }, async () => await beginBody(origin, attacker)
  ))
  const ask = async (address: string) => await fetch(`${origin}/sign-in/keys`, {
    headers: { 'x-forwarded-for': address }
  })
  await until(async () => (await ask(attacker)).status === 503, 'the refusal of one more')
  t.equal((await ask('203.0.113.9')).status, 200)
  const begin = performance.now()
  await app.close()
  t.ok(performance.now() - begin < 15_000)
  for (const socket of sockets) socket.destroy()
})

t.test('the workers of a replica have a part of its places each', async (t) => {
  const workers = { count: 20, metrics: async () => '', health: async () => ({ ready: true, parts: [] }) }
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const { app } = await createService({
    ...QUIET,
    catalog: await writeCatalog(t, HELLO),
    auth: ['sign-in'],
    publicUrl: `${origin}/mcp`,
    trustedProxies: ['loopback'],
    signIn: 'https://login.example',
    signInClientId: 'trivet',
    signInClientSecret: 'trivet-secret'
  }, { guard: createLoadGuard(), workers })
  t.teardown(async () => await app.close())
  await app.listen({ host: '127.0.0.1', port })
  const attacker = '198.51.100.7'
  const sockets = await Promise.all(Array.from({ length: 10 }, async () => await beginBody(origin, attacker)))
  const headers = { 'x-forwarded-for': attacker }
  await until(async () => (await fetch(`${origin}/sign-in/keys`, { headers })).status === 503, 'the refusal')
  for (const socket of sockets) socket.destroy()
})

t.test('a body that dribbles ends after ten seconds, and gives its place back', async (t) => {
  const { logger, lines } = createReadableLog('info')
  const { origin } = await startSignInService(t, { logger, trustedProxies: ['loopback'] })
  const { port } = new URL(origin)
  const attacker = '198.51.100.7'
  const paths = ['token', 'register', 'revoke']
  const types = { register: 'application/json' }
  const begin = performance.now()
  /** Sends a character each 50 ms. Resolves to the answer when the service has ended the connection. */
  async function dribble (path: string): Promise<string> {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    const type = Reflect.get(types, path) ?? 'application/x-www-form-urlencoded'
    socket.write(`POST /sign-in/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${attacker}\r\n` +
      `Transfer-Encoding: chunked\r\nContent-Type: ${type}\r\n\r\n`)
    const timer = setInterval(() => socket.write('1\r\na\r\n'), 50)
    const chunks: Buffer[] = []
    socket.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(socket, 'close')
    clearInterval(timer)
    return Buffer.concat(chunks).toString()
  }
  // As many as the share of one network.
  const dribbles = Array.from({ length: 200 }, async (_, index) => await dribble(paths[index % 3] ?? ''))
  const headers = { 'x-forwarded-for': attacker }
  const ask = async () => (await fetch(`${origin}/sign-in/keys`, { headers })).status
  await until(async () => await ask() === 503, 'the refusal of one more')
  for (const answer of await Promise.all(dribbles)) {
    t.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/)
    t.match(answer, /\r\nconnection: close\r\n/i)
    t.match(answer, /\{"error":"invalid_request","error_description":"The body did not come within 10 s\."\}/)
  }
  const seconds = (performance.now() - begin) / 1000
  t.ok(seconds > 10 && seconds < 20, `${seconds.toFixed(1)} s`)
  t.equal(await ask(), 200)
  t.notOk(lines.some(({ level }) => level >= 50), 'it is no error of the service')
})

// A store that is away for a second, at any moment of the start, is waited for. One that stays away, or that
// refuses, ends the start with a message that names the setting, the host and the cause.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../src/app.ts'
import { openBackend } from '../../src/store/backends/url-schemes.ts'
import { buildApp } from '../helpers/app.ts'
import { openLeavingServer } from '../servers/leaving-server.ts'
import { hasPostgresServer, startPostgresServer } from '../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

/** Starts that run at once. */
const AT_ONCE = 12
const DEADLINE = { timeout: 240_000 }
const SERVERS = [
  {
    name: 'Redis',
    isThere: hasRedisServer,
    start: async (t: Test) => await startRedisServer(t),
    toUrl: (port: number) => `redis://127.0.0.1:${port}`
  },
  {
    name: 'PostgreSQL',
    isThere: hasPostgresServer,
    start: async (t: Test) => await startPostgresServer(t, { settings: ['max_connections = 400'] }),
    toUrl: (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
  }
] as const

const log = { warn () {} }

for (const { name, isThere, start, toUrl } of SERVERS) {
  t.test(`${name} may be away for a second at any moment of the start`, DEADLINE, async (t) => {
    if (!isThere(t)) return
    const server = await start(t)

    /** Resolves to how many packets passed, or to why the service has not started. */
    async function startAway (at: number, ms: number): Promise<number | string> {
      const leaving = await openLeavingServer(t, server.port, { at, ms })
      const options: AppOptions = {
        stateUrl: toUrl(leaving.port), statePrefix: `p${ms}_${at}`, secrets: ['s'.repeat(32)]
      }
      return await buildApp(t, {}, options).then(async (app) => {
        await app.close()
        return leaving.passed
      }, (error: Error) => error.message.replaceAll(String(leaving.port), 'PORT'))
    }

    const packets = Number(await startAway(Infinity, 0))
    t.ok(packets > 20, `${packets} packets`)
    const moments = Array.from({ length: packets + 2 }, (_, at) => at)
    for (let first = 0; first < moments.length; first += AT_ONCE) {
      const group = moments.slice(first, first + AT_ONCE)
      const outcomes = await Promise.all(group.map(async (at) => await startAway(at, 1000)))
      outcomes.forEach((outcome, index) => t.type(outcome, 'number', `${group[index]}: ${outcome}`))
    }
    const lasting = moments.slice(0, packets - 8).filter((at) => at % 3 === 0)
    const messages = await Promise.all(lasting.map(async (at) => await startAway(at, Infinity)))
    messages.forEach((message, index) => t.match(
      message, /TRIVET_STATE_URL.* 127\.0\.0\.1:PORT.*(?:ECONNRESET|not connected|lost|timed out|terminated)/,
      String(lasting[index])
    ))
  })
}

t.test('what Redis refuses ends the start with the reason', DEADLINE, async (t) => {
  if (!hasRedisServer(t)) return
  const { port } = await startRedisServer(t, { password: 'right' })
  const full = await startRedisServer(t, { args: ['--maxclients', '1'] })
  const cases = [
    [`redis://127.0.0.1:${port}`, /NOAUTH: Redis asks for a password/],
    [`redis://:wrong@127.0.0.1:${port}`, /WRONGPASS/],
    [`redis://:right@127.0.0.1:${port}/99`, /DB index is out of range/],
    [`redis://127.0.0.1:${full.port}`, /EPIPE|ECONNRESET|max number of clients/]
  ] as const
  await Promise.all(cases.map(async ([url, reason]) => {
    const opening = openBackend(url, { log, prefix: 'trivet' })
    await t.rejects(opening, { message: /^TRIVET_STATE_URL: no Redis is reachable at 127\.0\.0\.1:\d+ / }, url)
    await t.rejects(opening, { message: reason }, url)
  }))
})

t.test('a Redis that is too old is refused with its version', DEADLINE, async (t) => {
  if (!hasRedisServer(t)) return
  const { port } = await startRedisServer(t)
  const old = await openLeavingServer(t, port, { at: Infinity, ms: 0 }, (bytes) => (
    Buffer.from(bytes.toString('latin1').replace(/redis_version:\d/, 'redis_version:4'), 'latin1')
  ))
  await t.rejects(openBackend(`redis://127.0.0.1:${old.port}`, { log, prefix: 'trivet' }), {
    message: /^TRIVET_STATE_URL: the Redis at 127\.0\.0\.1:\d+ has version 4[\d.]*\. Version 5 or later/
  })
})

t.test('a schema of a later release says which one is needed', DEADLINE, async (t) => {
  if (!hasPostgresServer(t)) return
  const { url, sql } = await startPostgresServer(t)
  await (await openBackend(url, { log, prefix: 'trivet' })).close()
  await sql('INSERT INTO trivet.versions (version, oldest_user) VALUES (7, 6)')
  await t.rejects(openBackend(url, { log, prefix: 'trivet' }), {
    message: /^TRIVET_STATE_URL: .* version 7, made by a later release.* Run a release that knows version 6/
  })
})

// What a server refuses ends the start with a message that names the setting and the reason.

import t from 'tap'
import { openBackend } from '../../../src/platform/store/backends/url-schemes.ts'
import { openLeavingServer } from '../../servers/leaving-server.ts'
import { hasPostgresServer, startPostgresServer } from '../../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'

const DEADLINE = { timeout: 60_000 }
const log = { warn () {} }

t.test('what Redis refuses ends the start with the reason', DEADLINE, async (t) => {
  if (!hasRedisServer(t)) return
  const { port } = await startRedisServer(t, { password: 'right' })
  const full = await startRedisServer(t, { args: ['--maxclients', '1'] })
  const cases = [
    [`redis://127.0.0.1:${port}`, /NOAUTH: Redis asks for a password/],
    [`redis://:wrong@127.0.0.1:${port}`, /WRONGPASS/],
    [`redis://:right@127.0.0.1:${port}/99`, /DB index is out of range/],
    [`redis+cluster://:right@127.0.0.1:${port}`, /cluster support disabled/],
    [`redis+sentinel://:right@127.0.0.1:${port}/master`, /unknown command 'sentinel'/],
    [`redis://127.0.0.1:${full.port}`, /EPIPE|ECONNRESET|max number of clients/]
  ] as const
  await Promise.all(cases.map(async ([url, reason]) => {
    const opening = openBackend(url, { log, prefix: 'trivet' })
    await t.rejects(opening, { message: /^TRIVET_STATE_URL: no Redis is reachable at 127\.0\.0\.1:\d+ / }, url)
    await t.rejects(opening, { message: reason }, url)
  }))
})

t.test('unreachable Sentinels and nodes of a cluster end the start with the reason', DEADLINE, async (t) => {
  // A resolver that is away says EAI_AGAIN.
  const unknown = 'getaddrinfo (?:ENOTFOUND|EAI_AGAIN) a.invalid'
  const refused = 'connect ECONNREFUSED 127.0.0.1:1'
  const cases = [
    ['redis+sentinel://a.invalid/master', 'a.invalid:26379', unknown],
    ['redis+sentinel://127.0.0.1:1/master', '127.0.0.1:1', refused],
    [
      'redis+sentinel://a.invalid,127.0.0.1:1/master', 'a.invalid:26379, 127.0.0.1:1', `${unknown}, ${refused}`
    ],
    ['redis+cluster://a.invalid', 'a.invalid:6379', unknown],
    ['rediss+cluster://a.invalid,127.0.0.1:1', 'a.invalid:6379, 127.0.0.1:1', `${unknown}, ${refused}`]
  ] as const
  await Promise.all(cases.map(async ([url, places, reason]) => {
    const message = new RegExp(
      `^TRIVET_STATE_URL: no Redis is reachable at ${places} within \\d+ ms \\(${reason}\\)\\. Start it`
    )
    await t.rejects(openBackend(url, { log, prefix: 'trivet' }), { message }, url)
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

// The backend that each URL of a server opens.

import t from 'tap'
import { checkParts, openStore } from '../../../contracts/backend-contract.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import {
  hasRedisServer, startRedisCluster, startRedisSentinel, startRedisServer
} from '../../../servers/redis-server.ts'

if (hasRedisServer(t)) {
  t.test('redis', async (t) => await checkParts(t, (await startRedisServer(t)).url))
  t.test('redis+sentinel', async (t) => {
    await checkParts(t, (await startRedisSentinel(t, 'word:of@its/own')).url)
  })
  t.test('redis+cluster', async (t) => await checkParts(t, (await startRedisCluster(t)).url))

  t.test('a Redis that cannot be reached is refused', async (t) => {
    const refusal = within(openStore(t, 'redis://127.0.0.1:1'), 'the refusal', 10_000)
    await t.rejects(refusal, { message: /^TRIVET_STATE_URL: no Redis is reachable/ })
  })

  t.test('a Redis user who may not subscribe is refused, and the connections end', async (t) => {
    const server = await startRedisServer(t)
    await server.cli('acl', 'setuser', 'deaf', 'on', '>word', '~*', '+@all', 'resetchannels')
    const url = server.url.replace('//', '//deaf:word@')
    const refusal = within(openStore(t, url), 'the refusal', 15_000)
    await t.rejects(refusal, {
      message: /^TRIVET_STATE_URL: Redis at 127.0.0.1:\d+: nothing arrived .* trivet:broadcast .*\(NOPERM/
    })
    const isConnected = async () => (await server.cli('client', 'list')).includes('user=deaf')
    await until(async () => !await isConnected(), 'its connections to end')
  })
}

if (hasPostgresServer(t)) {
  t.test('postgres', async (t) => await checkParts(t, (await startPostgresServer(t)).url))

  t.test('a PostgreSQL that cannot be reached is refused', async (t) => {
    const opening = openStore(t, 'postgres://user:hunter2@127.0.0.1:1/db')
    const message = /^TRIVET_STATE_URL: no PostgreSQL can be used at 127\.0\.0\.1:1 \((?!.*hunter2)/
    await t.rejects(within(opening, 'the refusal', 10_000), { message })
  })
}

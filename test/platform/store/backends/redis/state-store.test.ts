import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { openRedisStateStore } from '../../../../../src/platform/store/backends/redis/state-store.ts'
import { StoreUnavailable, type StateKey } from '../../../../../src/platform/store/records/state-store.ts'
import { checkStateStore } from '../../../../contracts/state-store-contract.ts'
import { checkStoreOutages } from '../../../../contracts/state-store-outages.ts'
import { until } from '../../../../helpers/deadline.ts'
import {
  hasRedisServer, startRedisCluster, startRedisSentinel, startRedisServer
} from '../../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import { connect, increment, KEY, LIFETIME, unavailable } from './connect.ts'

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)
  const flush = await connect(t, server.url)
  await flush.check()

  checkStateStore(t, async (t) => {
    await server.cli('flushall')
    return {
      store: await connect(t, server.url),
      now: Date.now,
      advance: async (ms) => { await pause(ms) },
      reopen: async () => await connect(t, server.url)
    }
  }, { unitMs: 150, toleranceMs: 200 })

  t.test('two replicas change one record without losing a change', async (t) => {
    const stores = [await connect(t, server.url), await connect(t, server.url)]
    await stores[0]?.create(KEY, toValue('0'), LIFETIME, 10)
    const all = Array.from({ length: 100 }, (_, index) => stores[index % 2] ?? flush)
    await Promise.all(all.map(increment))
    t.equal(textOf(await stores[1]?.read(KEY)), '100')
  })

  checkStoreOutages(t, {
    startServer: async (t) => await startRedisServer(t, { isDurable: true }),
    open: connect
  })

  t.test('a refusal of Redis is StoreUnavailable with a cause', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const other: StateKey = { owner: 'o', name: 'other' }
    const made = await store.create(KEY, toValue('0'), LIFETIME, 10)
    if (typeof made === 'string') throw new Error(made)
    const create = async () => await store.create(other, toValue('0'), LIFETIME, 10)

    await own.cli('config', 'set', 'maxmemory', '1')
    await t.rejects(create(), unavailable(/^OOM/))
    await t.rejects(store.replace(KEY, made.version, toValue('1')), unavailable(/^OOM/))
    t.equal(textOf(await store.read(KEY)), '0', 'what it has can still be read')
    await own.cli('config', 'set', 'maxmemory', '0')
    t.equal(await store.read(other), undefined, 'and nothing is half done')

    await own.cli('set', 'trivet:{o}:other', 'something else')
    await t.rejects(store.read(other), unavailable(/^WRONGTYPE/))
    await own.cli('del', 'trivet:{o}:other')

    await own.cli('replicaof', '127.0.0.1', '1')
    await t.rejects(store.read(KEY), unavailable(/^READONLY/), 'its values may be old')
    // Each refusal closes the connection, because there may be another master.
    const isRefused = (act: () => Promise<unknown>) => async () => await act().then(() => false, (error) => (
      error instanceof StoreUnavailable && /READONLY/.test(String(error.cause))
    ))
    await until(isRefused(create), 'the refusal by the new connection')
    await until(isRefused(async () => await store.confirm(KEY, made.version)), 'that by the next one')
    await until(isRefused(async () => await store.check()), 'that of the check')
    await own.cli('replicaof', 'no', 'one')
    const isMade = async () => await create().then(() => true, () => false)
    await until(isMade, 'Redis to take writes again', 10_000)
  })

  t.test('commands of one turn of the event loop are sent in one write', async (t) => {
    const own = await startRedisServer(t)
    const redis = openRedis(own.url, { onError () {} })
    t.teardown(async () => await redis.close())
    await redis.ready(5000)
    if (!('stream' in redis.commands)) throw new Error('one server has one stream')
    const { stream } = redis.commands
    const store = openRedisStateStore(redis.commands, { prefix: 'trivet' })
    await store.read(KEY)
    let writes = 0
    const gathered = stream.uncork.bind(stream)
    stream.uncork = () => {
      t.ok(stream.writableLength > 0)
      writes++
      gathered()
    }
    await Promise.all(Array.from({ length: 20 }, async () => await store.read(KEY)))
    t.equal(writes, 1)
  })

  t.test('scripts are sent again after Redis has dropped them', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    await own.cli('script', 'flush')
    await Promise.all(Array.from({ length: 20 }, async () => await increment(store)))
    t.equal(textOf(await store.read(KEY)), '20')
  })

  t.test('works in a cluster, with owners on all nodes', { timeout: 60_000 }, async (t) => {
    const cluster = await startRedisCluster(t)
    const store = await connect(t, cluster.url)
    const owners = Array.from({ length: 30 }, (_, index) => `owner-${index}`)
    const create = async (owner: string) => {
      return await store.create({ owner, name: 'a' }, toValue(owner), LIFETIME, 10)
    }
    await Promise.all(owners.map(create))
    for (const owner of owners) t.equal(textOf(await store.read({ owner, name: 'a' })), owner)
    const kept = await Promise.all(cluster.nodes.map(async ({ cli }) => Number(await cli('dbsize'))))
    t.ok(kept.every((count) => count > 0), 'and they lie on all of its nodes')
  })

  t.test('finds the master through Sentinels, with a password', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisSentinel(t, 'word:of@its/own')
    const store = await connect(t, url)
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    await increment(store)
    t.equal(textOf(await store.read(KEY)), '1')
  })
}

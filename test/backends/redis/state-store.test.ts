import t, { type Test } from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { openRedis } from '../../../src/backends/redis/connection.ts'
import { openRedisStateStore } from '../../../src/backends/redis/state-store.ts'
import { StoreUnavailable, type StateKey, type StateStore } from '../../../src/state/state-store.ts'
import { checkStateStore } from '../../contracts/state-store-contract.ts'
import { until, within } from '../../helpers/deadline.ts'
import {
  hasRedisServer, startRedisCluster, startRedisSentinel, startRedisServer, type RedisServer
} from '../../helpers/redis-server.ts'
import { textOf, toValue } from '../../helpers/state-value.ts'

const KEY: StateKey = { owner: 'o', name: 'counter' }
const LIFETIME = { idleMs: 600_000 }
/** Past this a call counts as hanging. */
const QUICK_MS = 2500

async function connect (t: Test, url: string): Promise<StateStore> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const store = openRedisStateStore(redis.commands, { prefix: 'trivet' })
  t.teardown(async () => await store.close())
  return store
}

/** How many writes a server has made that changed something. */
async function countChanges (server: RedisServer): Promise<string | undefined> {
  return /rdb_changes_since_last_save:(\d+)/.exec(await server.cli('info', 'persistence'))?.[1]
}

/** Whether Redis answers. */
const isThere = async (store: StateStore) => await store.check().then(() => true, () => false)

const unavailable = (message: RegExp) => ({ name: 'StoreUnavailable', cause: { message } })

async function increment (store: StateStore): Promise<void> {
  for (;;) {
    const record = await store.read(KEY)
    if (record === undefined) throw new Error('the record is gone')
    const next = toValue(String(Number(textOf(record)) + 1))
    if (await store.replace(KEY, record.version, next) !== undefined) return
  }
}

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

  t.test('two replicas change one record, and nothing is lost', async (t) => {
    const stores = [await connect(t, server.url), await connect(t, server.url)]
    await stores[0]?.create(KEY, toValue('0'), LIFETIME, 10)
    const all = Array.from({ length: 100 }, (_, index) => stores[index % 2] ?? flush)
    await Promise.all(all.map(increment))
    t.equal(textOf(await stores[1]?.read(KEY)), '100')
  })

  t.test('a lost Redis fails quickly, and comes back with all of it', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t, { isDurable: true })
    const store = await connect(t, own.url)
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    await increment(store)
    for (const [fail, recover] of [[own.kill, own.restart], [own.freeze, own.thaw]] as const) {
      await fail()
      const acts: ReadonlyArray<() => Promise<unknown>> = [
        async () => await store.read(KEY),
        async () => await store.check(),
        async () => await store.replace(KEY, '1', toValue('9')),
        async () => await store.create(KEY, toValue('9'), LIFETIME, 10)
      ]
      for (const act of acts) {
        await t.rejects(within(act(), 'an answer without Redis', QUICK_MS), { name: 'StoreUnavailable' })
      }
      await recover()
      await until(async () => await isThere(store), 'Redis to be found again', 10_000)
      t.equal(textOf(await store.read(KEY)), '1')
    }
  })

  t.test('no acknowledged change is lost or doubled in a crash', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t, { isDurable: true })
    const store = await connect(t, own.url)
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    const counts = { acknowledged: 0, unknown: 0 }
    const over = new AbortController()
    const incrementing = Promise.all(Array.from({ length: 20 }, async () => {
      while (!over.signal.aborted) {
        const record = await store.read(KEY).catch(async () => await pause(5))
        if (record === undefined) continue
        const replacing = store.replace(KEY, record.version, toValue(String(Number(textOf(record)) + 1)))
        await replacing.then((replaced) => {
          if (replaced !== undefined) counts.acknowledged++
        }, () => { counts.unknown++ })
      }
    }))
    await until(() => counts.acknowledged > 100, 'increments before the crash')
    await own.kill()
    await own.restart()
    const before = counts.acknowledged
    await until(() => counts.acknowledged > before + 100, 'increments after it', 10_000)
    over.abort()
    await incrementing
    const count = Number(textOf(await store.read(KEY)))
    const { acknowledged, unknown } = counts
    t.ok(count >= acknowledged && count <= acknowledged + unknown, `${count} of ${JSON.stringify(counts)}`)
  })

  t.test('calls to a Redis that hangs fail soon, and later ones at once', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    own.freeze()
    const read = async () => await store.read(KEY).catch((error: unknown) => error)
    const calls = Array.from({ length: 500 }, read)
    const failures = await within(Promise.all(calls), 'all answers', QUICK_MS)
    t.ok(failures.every((error) => error instanceof StoreUnavailable))
    const isAtOnce = async () => {
      const started = performance.now()
      await t.rejects(store.read(KEY), StoreUnavailable)
      return performance.now() - started < 50
    }
    await until(isAtOnce, 'the connection to be given up')
    own.thaw()
    await until(async () => await isThere(store), 'Redis to be found again', 10_000)
  })

  t.test('a Redis that refuses is not available, and says why', { timeout: 60_000 }, async (t) => {
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
    // The refusal closes the connection: there may be another master.
    await until(async () => await isThere(store), 'the new connection')
    await t.rejects(create(), unavailable(/^READONLY/))
    await own.cli('replicaof', 'no', 'one')
    const isMade = async () => await create().then(() => true, () => false)
    await until(isMade, 'Redis to take writes again', 10_000)
  })

  t.test('unused records expire by themselves, and an owner without records leaves nothing', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const keys = async () => (await own.cli('keys', '*')).split('\n').toSorted()
    await store.create(KEY, toValue('0'), { idleMs: 150 }, 10)
    t.strictSame(await keys(), ['trivet:{o}', 'trivet:{o}:counter'])
    await until(async () => await own.cli('dbsize') === '0', 'both to expire')
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    await store.delete(KEY)
    t.strictSame(await keys(), [''])
  })

  t.test('a record that Redis has evicted is absent everywhere, although its name is left', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const keyOf = (name: string): StateKey => ({ owner: 'o', name })
    const create = async (name: string) => await store.create(keyOf(name), toValue(name), LIFETIME, 3)
    const evict = async (...names: string[]) => {
      await own.cli('del', ...names.map((name) => `trivet:{o}:${name}`))
      const scores = await own.cli('zmscore', 'trivet:{o}', ...names)
      t.match(scores.split('\n'), names.map(() => /^\d+$/), 'the names are left')
    }
    for (const name of ['a', 'b', 'c']) t.type(await create(name), 'object')

    await evict('a')
    t.strictSame([...(await store.list('o')).keys()].toSorted(), ['b', 'c'])
    t.equal(await store.read(keyOf('a')), undefined)
    t.equal(await store.replace(keyOf('a'), '1', toValue('x')), undefined)
    t.type(await create('a'), 'object', 'a full owner makes it anew')
    t.equal(await create('d'), 'full')

    await evict('a', 'b')
    t.type(await create('d'), 'object', 'and others in the place of those that are gone')
    t.type(await create('e'), 'object')
    t.equal(await create('f'), 'full')
    t.strictSame([...(await store.list('o')).keys()].toSorted(), ['c', 'd', 'e'])

    await evict('c')
    t.equal(await store.delete(keyOf('c')), false)
    t.type(await create('f'), 'object')
  })

  t.test('an owner of many records finds room for those that were evicted', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const create = async (index: number) => {
      return await store.create({ owner: 'o', name: `n${index}` }, toValue('x'), LIFETIME, 5000)
    }
    for (let from = 0; from < 5000; from += 250) {
      await Promise.all(Array.from({ length: 250 }, async (_, index) => await create(from + index)))
    }
    const evicted = Array.from({ length: 500 }, (_, index) => index * 10)
    await own.cli('del', ...evicted.map((index) => `trivet:{o}:n${index}`))
    t.equal((await store.list('o')).size, 4500)
    let made = 0
    // Each attempt looks at 100 names, of which ten are those of evicted records.
    for (let index = 5000; made < 500 && index < 100_000; index++) {
      if (typeof await create(index) === 'object') made++
    }
    t.equal(made, 500)
    t.equal(await create(100_000), 'full')
    t.equal((await store.list('o')).size, 5000)
  })

  t.test('an eviction leaves no way around the limit of memory', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const create = async (name: string) => await store.create({ owner: 'o', name }, toValue('x'), LIFETIME, 1)
    await create('a')
    await own.cli('del', 'trivet:{o}:a')
    await own.cli('config', 'set', 'maxmemory', '1')
    for (const name of ['a', 'b']) await t.rejects(create(name), unavailable(/^OOM/))
    await own.cli('config', 'set', 'maxmemory', '0')
    t.equal((await store.list('o')).size, 0)
    t.type(await create('b'), 'object')
  })

  t.test('a use soon after another writes nothing, and shortens no lifetime', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const endsAt = Date.now() + 700_000
    for (const lifetime of [LIFETIME, { ...LIFETIME, endsAt }]) {
      await store.delete(KEY)
      await store.create(KEY, toValue('0'), lifetime, 10)
      const before = await countChanges(own)
      for (let i = 0; i < 20; i++) {
        const usedAt = Date.now()
        const { expiresAt } = await store.read(KEY) ?? { expiresAt: 0 }
        const left = expiresAt - usedAt
        t.ok(left >= LIFETIME.idleMs && left <= LIFETIME.idleMs * 1.011, String(left))
      }
      t.equal(await countChanges(own), before)
    }
    await own.cli('pexpire', 'trivet:{o}:counter', '599000')
    const before = await countChanges(own)
    const usedAt = Date.now()
    const { expiresAt } = await store.read(KEY) ?? { expiresAt: 0 }
    t.ok(expiresAt >= usedAt + LIFETIME.idleMs, 'a lifetime that has become shorter is restored')
    t.not(await countChanges(own), before)
    t.equal(textOf(await store.read({ ...KEY })), '0')
  })

  t.test('a record that ends soon is used as it is until then', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const endsAt = Date.now() + 60_000
    await store.create(KEY, toValue('0'), { ...LIFETIME, endsAt }, 10)
    const before = await countChanges(own)
    // So often that a millisecond ends in the middle of a script.
    const expiries = new Set<number>()
    for (let i = 0; i < 2000; i++) expiries.add((await store.read(KEY))?.expiresAt ?? 0)
    // A script reads what is left and then the clock. The machine may pause it in between.
    t.ok(
      [...expiries].every((expiresAt) => expiresAt >= endsAt - 1 && expiresAt < endsAt + 1000),
      [...expiries].join()
    )
    t.equal(await countChanges(own), before)
  })

  t.test('a record whose end has come when it is made is none, and leaves nothing', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    await store.create(KEY, toValue('0'), { ...LIFETIME, endsAt: Date.now() - 60_000 }, 10)
    t.equal(await store.read(KEY), undefined)
    t.equal(await own.cli('dbsize'), '0')
  })

  t.test('what is asked within one turn goes to Redis in one write', async (t) => {
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

  t.test('scripts that Redis has forgotten are sent again', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    await own.cli('script', 'flush')
    await Promise.all(Array.from({ length: 20 }, async () => await increment(store)))
    t.equal(textOf(await store.read(KEY)), '20')
  })

  t.test('works in a cluster, whoever the owners are', { timeout: 60_000 }, async (t) => {
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

  t.test('finds the master through Sentinels, and logs in', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisSentinel(t, 'word:of@its/own')
    const store = await connect(t, url)
    await store.create(KEY, toValue('0'), LIFETIME, 10)
    await increment(store)
    t.equal(textOf(await store.read(KEY)), '1')
  })
}

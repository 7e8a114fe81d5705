import t from 'tap'
import type { StateKey } from '../../../../../src/platform/store/records/state-store.ts'
import { until } from '../../../../helpers/deadline.ts'
import { hasRedisServer, startRedisServer } from '../../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import { connect, countChanges, KEY, LIFETIME, unavailable } from './connect.ts'

if (hasRedisServer(t)) {
  t.test('unused records expire, and an owner without records leaves no keys', async (t) => {
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

  t.test('an evicted record is absent in every call, although its name is left', async (t) => {
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

  t.test('settings of a session whose record was evicted can be set again', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const key = { owner: 'session-settings-anonymous-a', name: 'abc' }
    t.type(await store.create(key, toValue('x'), LIFETIME, 1), 'object')
    await own.cli('del', `trivet:{${key.owner}}:${key.name}`)
    t.type(await store.create(key, toValue('y'), LIFETIME, 1), 'object')
    t.equal(textOf(await store.read(key)), 'y')
  })

  t.test('an owner of many records can replace evicted ones', async (t) => {
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

  t.test('after an eviction the limit of memory still holds', async (t) => {
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

  t.test('a use soon after another writes nothing, and does not shorten the lifetime', async (t) => {
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

  t.test('a use of a record that is close to its end writes nothing', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    const endsAt = Date.now() + 60_000
    await store.create(KEY, toValue('0'), { ...LIFETIME, endsAt }, 10)
    const before = await countChanges(own)
    // Repeated until a millisecond ends in the middle of a script.
    const expiries = new Set<number>()
    for (let i = 0; i < 2000; i++) expiries.add((await store.read(KEY))?.expiresAt ?? 0)
    // A script reads the remaining time and then the clock. The machine may pause it in between.
    t.ok(
      [...expiries].every((expiresAt) => expiresAt >= endsAt - 1 && expiresAt < endsAt + 1000),
      [...expiries].join()
    )
    t.equal(await countChanges(own), before)
  })

  t.test('a record whose end is past leaves no keys', async (t) => {
    const own = await startRedisServer(t)
    const store = await connect(t, own.url)
    await store.create(KEY, toValue('0'), { ...LIFETIME, endsAt: Date.now() - 60_000 }, 10)
    t.equal(await store.read(KEY), undefined)
    t.equal(await own.cli('dbsize'), '0')
  })
}

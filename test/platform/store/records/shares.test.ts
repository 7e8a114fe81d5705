// Records that take a place in the share of their network.

import t, { type Test } from 'tap'
import { ShareUsed } from '../../../../src/platform/limits/limits.ts'
import { createMemoryStateStore } from '../../../../src/platform/store/backends/memory/state-store.ts'
import { createShares } from '../../../../src/platform/store/records/shares.ts'
import { StoreUnavailable, type StateStore } from '../../../../src/platform/store/records/state-store.ts'
import { timers } from '../../../../src/base/time.ts'
import { until } from '../../../helpers/deadline.ts'
import { toValue } from '../../../helpers/state-value.ts'
import { VirtualTime } from '../../../helpers/virtual-time.ts'

const LIFETIME = { idleMs: 60_000 }
const [HERE, THERE] = ['203.0.113.7', '2001:db8:0:1::/64']

function open (t: Test, store: StateStore = createMemoryStateStore()) {
  t.teardown(async () => await store.close())
  // The owner of each record, and of each place.
  const owners = new Set<string>()
  const watched: StateStore = {
    ...store,
    async create (key, ...rest) {
      owners.add(key.owner)
      return await store.create(key, ...rest)
    }
  }
  const shares = createShares(watched, 'things', 2)
  const keyOf = (name: string) => ({ owner: 'anonymous', name })
  return {
    create: async (network: string | undefined, name: string, limit = 10) => await shares.create(
      network, keyOf(name), toValue('x'), LIFETIME, limit
    ),
    remove: async (network: string | undefined, name: string) => await shares.delete(network, keyOf(name)),
    owners,
    count: async () => {
      const sizes = await Promise.all([...owners].map(async (owner) => (await store.list(owner)).size))
      return sizes.reduce((sum, size) => sum + size, 0)
    }
  }
}

t.test('one network creates its share, and another network has its own', async (t) => {
  const { create } = open(t)
  t.type(await create(HERE, 'a'), 'object')
  t.type(await create(HERE, 'b'), 'object')
  await t.rejects(create(HERE, 'c'), ShareUsed)
  t.type(await create(THERE, 'c'), 'object')
  t.type(await create(undefined, 'd'), 'object')
  t.equal(await create(THERE, 'a'), 'taken')
})

t.test('a record of the same name keeps its place', async (t) => {
  const { create } = open(t)
  await create(HERE, 'a')
  await create(HERE, 'b')
  t.equal(await create(HERE, 'b'), 'taken')
})

t.test('the limit of the owner holds for all networks together, and takes no place', async (t) => {
  const { create, count } = open(t)
  await create(HERE, 'a', 1)
  t.equal(await create(THERE, 'b', 1), 'full')
  await until(async () => await count() === 2, 'the record and its place')
})

t.test('a deleted record frees its place', async (t) => {
  const { create, remove, count } = open(t)
  await create(HERE, 'a')
  await create(HERE, 'b')
  t.equal(await remove(HERE, 'a'), true)
  t.equal(await remove(HERE, 'a'), false)
  t.type(await create(HERE, 'c'), 'object')
  await remove(HERE, 'b')
  await remove(HERE, 'c')
  t.equal(await count(), 0)
})

t.test('a record that another network deletes leaves its place, which expires', async (t) => {
  let now = 1_000_000
  const { create, remove } = open(t, createMemoryStateStore({ now: () => now }))
  await create(HERE, 'a')
  await create(HERE, 'b')
  t.equal(await remove(THERE, 'a'), true)
  t.equal(await remove(undefined, 'b'), true)
  await t.rejects(create(HERE, 'c'), ShareUsed)
  now += LIFETIME.idleMs
  t.type(await create(HERE, 'c'), 'object')
})

t.test('the store has no addresses', async (t) => {
  const { create, owners } = open(t)
  await create(HERE, 'a')
  await create(THERE, 'b')
  t.equal(owners.size, 3)
  for (const owner of owners) t.match(owner, /^(?:anonymous|things-of-[\w-]{43})$/)
})

t.test('a creation that was not confirmed leaves no place', async (t) => {
  const store = createMemoryStateStore()
  let calls = 0
  const breaking: StateStore = {
    ...store,
    async create (...args) {
      const created = await store.create(...args)
      // The first place, then the second record.
      if ([1, 3].includes(++calls)) throw new StoreUnavailable(new Error('no answer in time'))
      return created
    }
  }
  const { create, owners } = open(t, breaking)
  await t.rejects(create(HERE, 'a'), StoreUnavailable)
  await t.rejects(create(HERE, 'b'), StoreUnavailable)
  const [places = ''] = owners
  t.equal((await store.list(places)).size, 2)
  // Whoever creates a record removes it if nobody knows of it.
  await store.delete({ owner: 'anonymous', name: 'b' })
  await until(async () => (await store.list(places)).size === 0, 'their removal')
})

t.test('a place is taken over again after a lost reply', async (t) => {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  let replies = 0
  const shares = createShares({
    ...store,
    async replace (...args) {
      const replaced = await store.replace(...args)
      if (++replies % 2 === 1) throw new StoreUnavailable(new Error('no answer in time'))
      return replaced
    }
  }, 'things', 2)
  const key = { owner: 'anonymous', name: 'a' }
  const outage = { firstMs: 1, maxMs: 1, forMs: 5000 }
  const create = async () => await shares.create(HERE, key, toValue('x'), LIFETIME, 10, outage)
  t.type(await create(), 'object')
  t.equal(replies, 0)
  // Its place stays.
  await store.delete(key)
  t.type(await create(), 'object')
  t.equal(replies, 2)
  await shares.takeOver(undefined, key, 'mark', LIFETIME, outage)
  t.equal(replies, 4)
  t.equal((await store.peek(key))?.value.bytes.toString(), 'mark')
})

t.test('a creation that fails leaves the place of a record that exists', async (t) => {
  const time = new VirtualTime(t)
  const store = createMemoryStateStore()
  let losesReply = false
  const { create, owners } = open(t, {
    ...store,
    async create (...args) {
      const created = await store.create(...args)
      if (losesReply) throw new StoreUnavailable(new Error('no answer in time'))
      return created
    }
  })
  await create(HERE, 'a')
  losesReply = true
  await t.rejects(create(HERE, 'a'), StoreUnavailable)
  await time.during(timers.pause(LIFETIME.idleMs - 1), LIFETIME.idleMs)
  const [places = ''] = owners
  t.strictSame([...(await store.list(places)).keys()], ['a'])
})

t.test('a creation that fails removes no place that another one has just taken', async (t) => {
  const time = new VirtualTime(t)
  const store = createMemoryStateStore()
  let goOn: (() => void) | undefined
  let isFirst = true
  const { create, owners } = open(t, {
    ...store,
    async create (...args) {
      if (isFirst) {
        isFirst = false
        throw new StoreUnavailable(new Error('refused'))
      }
      if (args[0].owner === 'anonymous') await new Promise<void>((resolve) => { goOn = resolve })
      return await store.create(...args)
    }
  })
  await t.rejects(create(HERE, 'a'), StoreUnavailable)
  const creating = create(HERE, 'a')
  await time.during(timers.pause(5000), 6000)
  goOn?.()
  t.type(await time.during(creating, 1000), 'object')
  const [places = ''] = owners
  t.strictSame([...(await store.list(places)).keys()], ['a'])
})

t.test('a place that a failed creation is about to remove stays if a later one has it', async (t) => {
  const time = new VirtualTime(t)
  const store = createMemoryStateStore()
  let losesReply = true
  // The removal waits here: it has read the place, and found no record of its name.
  const looks: Array<() => void> = []
  const { create, owners } = open(t, {
    ...store,
    async create (...args) {
      const isLost = losesReply && args[0].owner === 'anonymous'
      if (isLost) throw new StoreUnavailable(new Error('no answer in time'))
      return await store.create(...args)
    },
    async peek (key) {
      const record = await store.peek(key)
      if (record === undefined) await new Promise<void>((resolve) => { looks.push(resolve) })
      return record
    }
  })
  await t.rejects(create(HERE, 'a'), StoreUnavailable)
  await time.during(timers.pause(1500), 2000)
  t.equal(looks.length, 1)
  losesReply = false
  t.type(await create(HERE, 'a'), 'object')
  for (const goOn of looks) goOn()
  await time.during(timers.pause(1000), 2000)
  const [places = ''] = owners
  t.strictSame([...(await store.list(places)).keys()], ['a'])
})

t.test('who repeats the release of a record learns that its place may be left', async (t) => {
  const store = createMemoryStateStore()
  let isAway = true
  const shares = createShares({
    ...store,
    async delete (key) {
      if (isAway && key.owner !== 'anonymous') throw new StoreUnavailable(new Error('no answer in time'))
      return await store.delete(key)
    }
  }, 'things', 2)
  t.teardown(async () => await store.close())
  const key = { owner: 'anonymous', name: 'a' }
  await shares.create(HERE, key, toValue('x'), LIFETIME, 10)
  await t.rejects(shares.release(HERE, key), StoreUnavailable)
  t.notOk(await store.peek(key))
  isAway = false
  await shares.release(HERE, key)
  t.type(await shares.create(HERE, { ...key, name: 'b' }, toValue('x'), LIFETIME, 10), 'object')
  t.type(await shares.create(HERE, { ...key, name: 'c' }, toValue('x'), LIFETIME, 10), 'object')
})

t.test('a deletion frees the place of a record that is gone already', async (t) => {
  const store = createMemoryStateStore()
  const { create, remove } = open(t, store)
  await create(HERE, 'one')
  await create(HERE, 'two')
  // The replica that deletes the record is lost before it frees the place.
  await store.delete({ owner: 'anonymous', name: 'one' })
  t.equal(await remove(HERE, 'one'), false)
  t.not(await create(HERE, 'three'), 'full')
})

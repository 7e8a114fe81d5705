// What a Redis of each persistence has after its process was killed, and what it answers on a full disk.
// https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StoreUnavailable, type StateStore } from '../../../../../src/platform/store/records/state-store.ts'
import { isThere } from '../../../../contracts/state-store-outages.ts'
import { until } from '../../../../helpers/deadline.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from '../../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import { connect, KEY, LIFETIME, unavailable } from './connect.ts'

/** Longer than a write may wait for the disk under `appendfsync everysec`: two seconds. */
const EVERYSEC_MS = 2200
const AOF = ['--appendonly', 'yes', '--appendfsync']

interface Persistence {
  readonly args: readonly string[]
  readonly has: string
  /** Called between the first and the last writes. */
  readonly between?: (server: RedisServer) => Promise<unknown>
  /** Which of the first and the last writes must be there. `undefined`: may be there. */
  readonly there: readonly [first: boolean, last: boolean | undefined]
}

const PERSISTENCES: { readonly [name: string]: Persistence } = {
  'no persistence': { args: [], has: 'nothing', there: [false, false] },
  snapshots: {
    args: ['--save', '3600 1'],
    has: 'what its last snapshot has',
    between: async ({ cli }) => await cli('save'),
    there: [true, false]
  },
  'appendfsync everysec': {
    args: [...AOF, 'everysec'],
    has: 'all but the last two seconds',
    between: async () => await pause(EVERYSEC_MS),
    there: [true, undefined]
  },
  'appendfsync always': { args: [...AOF, 'always'], has: 'all that it acknowledged', there: [true, true] }
}

const toKey = (name: string) => ({ owner: 'o', name })
const namesOf = (group: string) => Array.from({ length: 50 }, (_, index) => `${group}-${index}`)

if (hasRedisServer(t)) {
  for (const [name, { args, has, between, there }] of Object.entries(PERSISTENCES)) {
    t.test(`after a kill a Redis with ${name} has ${has}`, { timeout: 60_000 }, async (t) => {
      const server = await startRedisServer(t, { args })
      const store = await connect(t, server.url)
      const versions = new Map<string, string>()
      for (const name of namesOf('first')) versions.set(name, await create(store, name))
      await between?.(server)
      await Promise.all(namesOf('last').map(async (name) => versions.set(name, await create(store, name))))
      await server.kill()
      await server.restart()
      await until(async () => await isThere(store), 'Redis to be found again', 10_000)
      for (const [index, group] of ['first', 'last'].entries()) {
        if (there[index] === undefined) continue
        const names = namesOf(group)
        const expected = there[index] === true ? names : names.map(() => undefined)
        t.strictSame(await readAll(store, names), expected, group)
      }
      if (there[0]) return
      const replaced = await store.replace(toKey('first-0'), versions.get('first-0') ?? '', toValue('x'))
      t.equal(replaced, undefined, 'a write to what was lost is no success')
    })
  }

  t.test('on a full disk a Redis with appendfsync everysec refuses writes and reads, and goes on later', {
    timeout: 60_000
  }, async (t) => {
    const { server, store, names } = await fillDisk(t, 'everysec', unavailable(/^MISCONF/))
    const [first = KEY] = names.map(toKey)
    // A read extends the lifetime of its record, which is a write.
    await t.rejects(store.read(first), unavailable(/^MISCONF/))
    await server.limitFiles('unlimited')
    const hasRoom = async () => await create(store, KEY.name).then(() => true, () => false)
    await until(hasRoom, 'room on the disk', 10_000)
    t.strictSame(await readAll(store, names), names, 'nothing is lost')
  })

  t.test('on a full disk a Redis with appendfsync always ends, and has all that it acknowledged', {
    timeout: 60_000
  }, async (t) => {
    const { server, store, names } = await fillDisk(t, 'always', StoreUnavailable)
    await server.restart()
    await until(async () => await isThere(store), 'Redis to be found again', 10_000)
    t.strictSame(await readAll(store, names), names)
  })

  t.test('with min-replicas-to-write a master without its replica neither writes nor reads', {
    timeout: 60_000
  }, async (t) => {
    const master = await startRedisServer(t, {
      args: ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1', '--repl-diskless-sync-delay', '0']
    })
    const replica = await startRedisServer(t, { args: ['--replicaof', '127.0.0.1', String(master.port)] })
    const store = await connect(t, master.url)
    const isWritten = async (name: string) => await create(store, name).then(() => true, () => false)
    await until(async () => await isWritten('before'), 'the replica', 20_000)
    replica.freeze()
    await until(async () => !await isWritten(randomUUID()), 'the master to notice', 10_000)
    const refusal = unavailable(/^NOREPLICAS/)
    await t.rejects(create(store, 'after'), refusal)
    await t.rejects(store.read(toKey('before')), refusal, 'another master may have newer values')
    await t.rejects(store.peek(toKey('before')), refusal)
    replica.thaw()
    await until(async () => await isWritten('after'), 'the replica', 10_000)
  })
}

/** Creates records until the disk of a Redis is full. */
async function fillDisk (
  t: Test, policy: string, error: typeof StoreUnavailable | ReturnType<typeof unavailable>
) {
  const server = await startRedisServer(t, { args: [...AOF, policy] })
  const store = await connect(t, server.url)
  const names: string[] = []
  await server.limitFiles(50_000)
  const fill = async () => {
    for (;;) {
      const name = `n${names.length}`
      await create(store, name)
      names.push(name)
    }
  }
  await t.rejects(fill(), error)
  t.ok(names.length > 20)
  return { server, store, names }
}

async function create (store: StateStore, name: string): Promise<string> {
  const created = await store.create(toKey(name), toValue(name), LIFETIME, 10_000)
  if (typeof created === 'string') throw new Error(created)
  return created.version
}

/** The values of the records of these names. */
async function readAll (store: StateStore, names: readonly string[]) {
  return await Promise.all(names.map(async (name) => textOf(await store.read(toKey(name)))))
}

// What every state store must do, whatever keeps its records. A new one is done when this passes.

import type { Test } from 'tap'
import {
  StoreUnavailable, type RecordLifetime, type StateKey, type StateRecord, type StateStore
} from '../../src/state/state-store.ts'
import { within } from '../helpers/deadline.ts'
import { textOf, toValue } from '../helpers/state-value.ts'

/** A store of its own for one claim, and the clock that it goes by. */
export interface OpenStore {
  readonly store: StateStore
  /** In milliseconds since the epoch. */
  now (): number
  /** Resolves when so much time has passed for the store. */
  advance (ms: number): Promise<void> | void
  /** Another store on the same medium. Left out where what is kept ends with the store. */
  reopen? (): Promise<StateStore>
}

export interface StateStoreContractOptions {
  /**
   * What lifetimes are counted in: anything where the clock is injected, long enough for a few operations
   * where time is waited for.
   */
  readonly unitMs?: number
  /** By how much a time may be off: nothing where the clock is injected. */
  readonly toleranceMs?: number
}

/** @param open makes a store with nothing in it, and closes it when the test ends. */
export function checkStateStore (
  t: Test, open: (t: Test) => Promise<OpenStore>,
  { unitMs = 60_000, toleranceMs = 0 }: StateStoreContractOptions = {}
): void {
  const KEY: StateKey = { owner: 'owner-1', name: 'bsk_1.a:b' }
  const IDLE: RecordLifetime = { idleMs: 10 * unitMs }
  const LIMIT = 1000
  const named = (name: string, owner = KEY.owner): StateKey => ({ owner, name })

  async function create (
    store: StateStore, key: StateKey, value = 'first', lifetime = IDLE
  ): Promise<StateRecord> {
    const made = await store.create(key, toValue(value), lifetime, LIMIT)
    if (typeof made === 'string') throw new Error(`expected a record, got ${made}`)
    return made
  }

  function isAbout (t: Test, actual: number | undefined, expected: number, what: string): void {
    t.ok(
      actual !== undefined && Math.abs(actual - expected) <= toleranceMs,
      `${what}: expected ${expected}, got ${actual}`
    )
  }

  t.test('what is created can be read, replaced and deleted', async (t) => {
    const { store } = await open(t)
    t.equal(await store.read(KEY), undefined)
    const made = await create(store, KEY)
    t.equal(textOf(made), 'first')
    t.match(await store.read(KEY), { version: made.version, value: toValue('first') })
    const replaced = await store.replace(KEY, made.version, toValue('second'))
    t.equal(textOf(replaced), 'second')
    t.match(await store.read(KEY), { version: replaced?.version, value: toValue('second') })
    t.equal(await store.delete(KEY), true)
    t.equal(await store.read(KEY), undefined)
    t.equal(await store.delete(KEY), false)
  })

  t.test('what an owner has is listed, with its end, and nobody else\'s', async (t) => {
    const { store, now, advance } = await open(t)
    t.equal((await store.list(KEY.owner)).size, 0)
    await create(store, named('short'), 'a', { idleMs: unitMs })
    await create(store, named('long.a:b-c_d'), 'b', IDLE)
    await create(store, named('deleted'), 'c', IDLE)
    await create(store, named('foreign', 'owner-1x'), 'd', IDLE)
    await store.delete(named('deleted'))
    const all = await store.list(KEY.owner)
    t.strictSame([...all.keys()].toSorted(), ['long.a:b-c_d', 'short'])
    isAbout(t, all.get('short'), now() + unitMs, 'the end of the short one')
    await advance(2 * unitMs)
    t.strictSame([...(await store.list(KEY.owner)).keys()], ['long.a:b-c_d'])
  })

  t.test('a name that is taken stays as it is', async (t) => {
    const { store } = await open(t)
    const made = await create(store, KEY)
    t.equal(await store.create(KEY, toValue('other'), IDLE, LIMIT), 'taken')
    t.match(await store.read(KEY), { version: made.version, value: toValue('first') })
    await store.delete(KEY)
    t.equal(textOf(await create(store, KEY, 'anew')), 'anew', 'and is free again when its record is deleted')
  })

  t.test('an owner has room for so many records and no more', async (t) => {
    const { store } = await open(t)
    const add = async (name: string, owner?: string) => await store.create(
      named(name, owner), toValue(name), IDLE, 2
    )
    t.equal(await store.create(KEY, toValue(''), IDLE, 0), 'full')
    await add('a')
    await add('b')
    t.equal(await add('c'), 'full')
    t.equal(await store.read(named('c')), undefined)
    t.equal(await add('a'), 'taken', 'which a full owner is told as well')
    t.type(await add('c', 'owner-2'), 'object', 'and what others have does not count')
    t.equal(await store.delete(named('nothing')), false)
    t.equal(await add('c'), 'full', 'deleting what is not there makes no room')
    await store.delete(named('a'))
    t.equal(textOf(await create(store, named('d'), 'd')), 'd')
    await store.delete(named('d'))
    t.type(await add('c'), 'object')
    t.equal(await add('d'), 'full')
  })

  t.test('what has expired takes no room, and what was used in time does', async (t) => {
    const { store, advance } = await open(t)
    const add = async (name: string) => await store.create(named(name), toValue(name), IDLE, 2)
    await add('a')
    await add('b')
    await advance(6 * unitMs)
    await store.read(named('b'))
    t.equal(await add('c'), 'full')
    await advance(6 * unitMs)
    t.type(await add('c'), 'object', 'in the place of the first')
    t.equal(await add('d'), 'full')
    t.equal(textOf(await store.read(named('b'))), 'b')
  })

  t.test('a limit holds against creations at the same time', async (t) => {
    const { store } = await open(t)
    const made = await Promise.all(
      Array.from(
        { length: 50 }, async (_, index) => await store.create(named(`n${index}`), toValue('x'), IDLE, 10)
      )
    )
    t.equal(made.filter((result) => result === 'full').length, 40)
  })

  t.test("an owner's records are a world of their own", async (t) => {
    const { store } = await open(t)
    const made = await create(store, KEY)
    // Neither the other's name nor one that begins like it, nor a name that reads like both.
    for (const other of [
      named(KEY.name, 'owner-2'), named(KEY.name, 'owner-'), named(KEY.name, 'owner-11'),
      named(`1${KEY.name}`, 'owner-')
    ]) {
      t.equal(await store.read(other), undefined)
      t.equal(await store.replace(other, made.version, toValue('theirs')), undefined)
      t.equal(await store.delete(other), false)
    }
    const theirs = await create(store, named(KEY.name, 'owner-2'), 'theirs')
    t.equal(await store.replace(KEY, theirs.version, toValue('theirs')), undefined)
    t.match(await store.read(KEY), { version: made.version, value: toValue('first') })
    await store.delete(KEY)
    t.equal(textOf(await store.read(named(KEY.name, 'owner-2'))), 'theirs')
  })

  t.test('a version is replaced once', async (t) => {
    const { store } = await open(t)
    t.equal(await store.replace(KEY, '1', toValue('nothing')), undefined, 'and never where there is none')
    const made = await create(store, KEY)
    const replaced = await store.replace(KEY, made.version, toValue('second'))
    t.not(replaced?.version, made.version)
    t.equal(await store.replace(KEY, made.version, toValue('late')), undefined)
    t.equal(await store.replace(KEY, 'no version', toValue('late')), undefined)
    t.equal(textOf(await store.read(KEY)), 'second')
    await store.delete(KEY)
    t.equal(await store.replace(KEY, replaced?.version ?? '', toValue('late')), undefined)
    const anew = await create(store, KEY, 'anew')
    for (const { version } of [made, replaced ?? made]) {
      t.not(anew.version, version)
      t.equal(
        await store.replace(KEY, version, toValue('late')), undefined,
        'not even where another record has the name'
      )
    }
    t.equal(textOf(await store.read(KEY)), 'anew')
  })

  t.test('each use begins the idle lifetime anew, and says until when', async (t) => {
    const { store, now, advance } = await open(t)
    const made = await create(store, KEY)
    isAbout(t, made.expiresAt, now() + IDLE.idleMs, 'created')
    await advance(6 * unitMs)
    const read = await store.read(KEY)
    isAbout(t, read?.expiresAt, now() + IDLE.idleMs, 'read')
    await advance(6 * unitMs)
    isAbout(
      t, (await store.replace(KEY, made.version, toValue('second')))?.expiresAt, now() + IDLE.idleMs,
      'replaced'
    )
    await advance(6 * unitMs)
    t.equal(textOf(await store.read(KEY)), 'second')
    await advance(11 * unitMs)
    t.equal(await store.read(KEY), undefined)
  })

  t.test('a replacement that fails, and a creation of what there is, are no uses', async (t) => {
    const { store, advance } = await open(t)
    await create(store, KEY)
    await advance(6 * unitMs)
    t.equal(await store.replace(KEY, 'no version', toValue('second')), undefined)
    t.equal(await store.create(KEY, toValue('other'), IDLE, LIMIT), 'taken')
    await advance(6 * unitMs)
    t.equal(await store.read(KEY), undefined)
  })

  t.test('no use takes a record past its end', async (t) => {
    const { store, now, advance } = await open(t)
    const endsAt = now() + 12 * unitMs
    const made = await create(store, KEY, 'first', { ...IDLE, endsAt })
    isAbout(t, made.expiresAt, now() + IDLE.idleMs, 'created')
    await advance(6 * unitMs)
    isAbout(t, (await store.read(KEY))?.expiresAt, endsAt, 'read')
    const replaced = await store.replace(KEY, made.version, toValue('second'))
    isAbout(t, replaced?.expiresAt, endsAt, 'replaced')
    isAbout(
      t, (await create(store, named('late'), 'first', { ...IDLE, endsAt })).expiresAt, endsAt,
      'created when the end is near'
    )
    await advance(7 * unitMs)
    for (const key of [KEY, named('late')]) t.equal(await store.read(key), undefined)
    t.equal(await store.replace(KEY, replaced?.version ?? '', toValue('third')), undefined)
  })

  t.test('what has expired is not there for anybody, and its name is free', async (t) => {
    const { store, advance } = await open(t)
    const short: RecordLifetime = { idleMs: 2 * unitMs }
    const versions = new Map<string, string>()
    for (const name of ['read', 'replaced', 'deleted', 'created']) {
      versions.set(name, (await create(store, named(name), 'old', short)).version)
    }
    await advance(3 * unitMs)
    t.equal(await store.read(named('read')), undefined)
    t.equal(await store.replace(named('replaced'), versions.get('replaced') ?? '', toValue('new')), undefined)
    t.equal(await store.delete(named('deleted')), false)
    t.equal(textOf(await create(store, named('created'), 'new')), 'new')
    for (const name of ['read', 'replaced', 'deleted']) t.equal(await store.read(named(name)), undefined)
    t.equal(textOf(await store.read(named('created'))), 'new')
    t.equal(await store.replace(named('created'), versions.get('created') ?? '', toValue('late')), undefined)
    await advance(5 * unitMs)
    t.equal(textOf(await store.read(named('created'))), 'new', 'with a lifetime of its own')
  })

  t.test('64 increments at the same time come to 64', async (t) => {
    const { store } = await open(t)
    await create(store, KEY, '0')
    await Promise.all(Array.from({ length: 64 }, async () => {
      for (;;) {
        const record = await store.read(KEY)
        if (record === undefined) throw new Error('the record is gone')
        if (
          await store.replace(KEY, record.version, toValue(String(Number(textOf(record)) + 1))) !== undefined
        ) {
          return
        }
      }
    }))
    t.equal(textOf(await store.read(KEY)), '64')
  })

  t.test('of 50 creations of one name at the same time, one comes through', async (t) => {
    const { store } = await open(t)
    const made = await Promise.all(
      Array.from(
        { length: 50 }, async (_, index) => await store.create(KEY, toValue(String(index)), IDLE, LIMIT)
      )
    )
    const won = made.filter((result) => typeof result === 'object')
    t.equal(won.length, 1)
    t.equal(made.filter((result) => result === 'taken').length, 49)
    t.equal(textOf(await store.read(KEY)), textOf(won[0]))
  })

  t.test('a value is any bytes, few or many, and a name may be long', async (t) => {
    const { store } = await open(t)
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const values = [
      every, Buffer.alloc(0), Buffer.alloc(1024 * 1024, every), Buffer.alloc(40_000, 'a'),
      Buffer.from('\r\n$-1\r\n')
    ]
    for (const [index, value] of values.entries()) {
      const key = named(`${'n'.repeat(1000)}${index}`, 'o'.repeat(64))
      const made = await store.create(key, toValue(value), IDLE, LIMIT)
      if (typeof made === 'string') throw new Error(made)
      t.ok(made.value.bytes.equals(value), `${value.length} bytes are created`)
      t.ok((await store.read(key))?.value.bytes.equals(value), 'and read')
      const replaced = await store.replace(key, made.version, toValue(Buffer.concat([value, every])))
      t.ok(replaced?.value.bytes.equals(Buffer.concat([value, every])), 'and replaced')
      t.ok((await store.read(key))?.value.bytes.equals(Buffer.concat([value, every])), 'and read again')
      t.equal((await store.read(key))?.value.bytes.length, value.length + 256)
    }
  })

  t.test('what was read stays as it was, whatever becomes of the record', async (t) => {
    const { store } = await open(t)
    const made = await create(store, KEY, 'first')
    const read = await store.read(KEY)
    const replaced = await store.replace(KEY, made.version, toValue('other'))
    t.same([textOf(made), textOf(read), textOf(replaced)], ['first', 'first', 'other'])
    await store.replace(KEY, replaced?.version ?? '', toValue('last'))
    await store.delete(KEY)
    t.same([textOf(made), textOf(read), textOf(replaced)], ['first', 'first', 'other'])
  })

  t.test('closing while it is busy loses nothing that was acknowledged, and afterwards nothing is ' +
    'done', async (t) => {
    const { store, reopen } = await open(t)
    await create(store, KEY)
    const names = Array.from({ length: 200 }, (_, index) => `n${index}`)
    const pending = names.map(async (name) => await store.create(named(name), toValue(name), IDLE, LIMIT))
    const reading = store.read(KEY)
    await within(Promise.all([store.close(), store.close()]), 'the store to close')
    await within(store.close(), 'closing again')
    const settled = await within(Promise.allSettled([...pending, reading]), 'every pending call')
    for (const result of settled) {
      if (result.status === 'rejected') t.ok(result.reason instanceof StoreUnavailable, String(result.reason))
    }
    for (const refused of [
      store.create(named('late'), toValue('late'), IDLE, LIMIT), store.read(KEY), store.replace(
        KEY, '1', toValue('late')
      ), store.delete(KEY), store.check()
    ] satisfies Array<Promise<unknown>>) {
      await t.rejects(Promise.resolve<unknown>(refused), {
        name: 'StoreUnavailable'
      })
    }
    if (reopen === undefined) return
    const next = await reopen()
    const kept = await Promise.all(names.map(async (name) => textOf(await next.read(named(name))) === name))
    for (const [index, result] of settled.entries()) {
      if (result.status === 'fulfilled' && kept[index] === false) {
        t.fail(`${names[index]} was acknowledged and is gone`)
      }
    }
    t.equal(await next.read(named('late')), undefined)
    await next.close()
  })

  t.test('what was acknowledged outlives the store, with its version and its lifetime', async (t) => {
    const { store, advance, reopen } = await open(t)
    await t.resolves(store.check())
    if (reopen === undefined) return
    const made = await create(store, KEY)
    await create(store, named('deleted'))
    await store.delete(named('deleted'))
    await advance(6 * unitMs)
    await store.read(KEY)
    await store.close()
    await advance(6 * unitMs)
    const next = await reopen()
    await t.resolves(next.check())
    t.equal(await next.read(named('deleted')), undefined)
    t.match(await next.read(KEY), { version: made.version, value: toValue('first') })
    t.equal(textOf(await next.replace(KEY, made.version, toValue('second'))), 'second')
    t.equal(await next.create(named('other'), toValue('other'), IDLE, 1), 'full', 'and still counts')
    await advance(11 * unitMs)
    t.equal(await next.read(KEY), undefined)
    await next.close()
  })
}

// Concurrent calls to a store, and closing it.

import type { Test } from 'tap'
import { StoreUnavailable } from '../../src/platform/store/records/state-store.ts'
import { within } from '../helpers/deadline.ts'
import { textOf, toValue } from '../helpers/state-value.ts'
import type { OpenTestStore, StoreSetup } from './state-store-setup.ts'

export function checkConcurrency (t: Test, open: OpenTestStore, setup: StoreSetup): void {
  const { KEY, IDLE, LIMIT, unitMs, named, create } = setup

  t.test('the limit holds for concurrent creations', async (t) => {
    const { store } = await open(t)
    const made = await Promise.all(
      Array.from(
        { length: 50 }, async (_, index) => await store.create(named(`n${index}`), toValue('x'), IDLE, 10)
      )
    )
    t.equal(made.filter((result) => result === 'full').length, 40)
  })

  t.test('each of many creations at once stores its own value, whatever its size', async (t) => {
    const { store } = await open(t)
    const values = Array.from({ length: 30 }, (_, index) => `${index}:`.padEnd(index % 3 === 0 ? 40_000 : 10))
    const made = await Promise.all(values.map(async (value, index) => (
      await store.create(named(`n${index}`), toValue(value), IDLE, LIMIT)
    )))
    for (const [index, value] of values.entries()) {
      const [record, stored] = [made[index], await store.read(named(`n${index}`))]
      if (typeof record !== 'object') throw new Error(`n${index}: ${record}`)
      t.equal(textOf(stored), value)
      t.equal(record.version, stored?.version)
      t.equal(textOf(record), value)
    }
  })

  t.test('64 concurrent increments count to 64', async (t) => {
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

  t.test('of 50 concurrent creations of one name, one succeeds', async (t) => {
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

  t.test('closing loses no acknowledged write, and later calls reject', async (t) => {
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
      ), store.confirm(KEY, '1'), store.delete(KEY), store.check()
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

  t.test('acknowledged records outlive the store, with version and lifetime', async (t) => {
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

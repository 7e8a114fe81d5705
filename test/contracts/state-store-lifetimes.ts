// The lifetimes of the records in a store.

import type { Test } from 'tap'
import type { RecordLifetime } from '../../src/platform/store/records/state-store.ts'
import { textOf, toValue } from '../helpers/state-value.ts'
import type { OpenTestStore, StoreSetup } from './state-store-setup.ts'

export function checkLifetimes (t: Test, open: OpenTestStore, setup: StoreSetup): void {
  const { KEY, IDLE, LIMIT, unitMs, named, create, isAbout } = setup

  t.test('expired records do not count for the limit, and used ones do', async (t) => {
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

  t.test('each use restarts the idle lifetime, and returns the expiry', async (t) => {
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

  t.test('a peek returns the record and its expiry, and is no use', async (t) => {
    const { store, now, advance } = await open(t)
    t.equal(await store.peek(KEY), undefined)
    const { version } = await create(store, KEY)
    const expiry = now() + IDLE.idleMs
    await advance(6 * unitMs)
    const record = await store.peek(KEY)
    t.equal(textOf(record), 'first')
    t.equal(record?.version, version)
    isAbout(t, record?.expiresAt, expiry, 'peeked')
    await advance(6 * unitMs)
    t.equal(await store.peek(KEY), undefined)
  })

  t.test('a confirmation says whether the record has the version, and is no use', async (t) => {
    const { store, advance } = await open(t)
    t.equal(await store.confirm(KEY, '1'), false)
    const { version } = await create(store, KEY)
    await advance(6 * unitMs)
    t.equal(await store.confirm(KEY, version), true)
    t.equal(await store.confirm(KEY, 'no version'), false)
    t.equal(await store.confirm(named(KEY.name, 'owner-2'), version), false)
    await advance(6 * unitMs)
    t.equal(await store.confirm(KEY, version), false, 'the record has expired')
    const made = await create(store, KEY)
    const replaced = await store.replace(KEY, made.version, toValue('second'))
    t.equal(await store.confirm(KEY, made.version), false)
    t.equal(await store.confirm(KEY, replaced?.version ?? ''), true)
    t.equal(textOf(await store.read(KEY)), 'second')
  })

  t.test('a replacement may bring a lifetime, longer or shorter', async (t) => {
    const { store, now, advance } = await open(t)
    const made = await create(store, KEY, 'first', { idleMs: 2 * unitMs, endsAt: now() + 3 * unitMs })
    const longer = await store.replace(KEY, made.version, toValue('second'), IDLE)
    isAbout(t, longer?.expiresAt, now() + IDLE.idleMs, 'longer')
    await advance(6 * unitMs)
    isAbout(t, (await store.read(KEY))?.expiresAt, now() + IDLE.idleMs, 'used')
    const end = { ...IDLE, endsAt: now() + 2 * unitMs }
    t.equal(await store.replace(KEY, made.version, toValue('late'), end), undefined, 'of the version only')
    const shorter = await store.replace(KEY, longer?.version ?? '', toValue('third'), end)
    isAbout(t, shorter?.expiresAt, end.endsAt, 'shorter')
    t.equal(textOf(await store.peek(KEY)), 'third')
    t.equal(await store.create(named('other'), toValue(''), IDLE, 1), 'full')
    await advance(3 * unitMs)
    t.equal(await store.read(KEY), undefined)
    t.type(await store.create(named('other'), toValue(''), IDLE, 1), 'object', 'and it does not count')
  })

  t.test('a failed replacement or creation is no use', async (t) => {
    const { store, advance } = await open(t)
    await create(store, KEY)
    await advance(6 * unitMs)
    t.equal(await store.replace(KEY, 'no version', toValue('second')), undefined)
    t.equal(await store.create(KEY, toValue('other'), IDLE, LIMIT), 'taken')
    await advance(6 * unitMs)
    t.equal(await store.read(KEY), undefined)
  })

  t.test('no use extends a record past its end', async (t) => {
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

  t.test('an expired record is absent, and its name is free', async (t) => {
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
}

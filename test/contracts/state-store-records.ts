// Names, owners, versions and values of the records in a store.

import type { Test } from 'tap'
import { textOf, toValue } from '../helpers/state-value.ts'
import type { OpenTestStore, StoreSetup } from './state-store-setup.ts'

export function checkRecords (t: Test, open: OpenTestStore, setup: StoreSetup): void {
  const { KEY, IDLE, LIMIT, unitMs, named, create, isAbout } = setup

  t.test('a record can be created, read, replaced and deleted', async (t) => {
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

  t.test('lists the live records of one owner, with their expiries', async (t) => {
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

  t.test('creating an existing record does not change it', async (t) => {
    const { store } = await open(t)
    const made = await create(store, KEY)
    t.equal(await store.create(KEY, toValue('other'), IDLE, LIMIT), 'taken')
    t.match(await store.read(KEY), { version: made.version, value: toValue('first') })
    await store.delete(KEY)
    t.equal(textOf(await create(store, KEY, 'anew')), 'anew', 'and is free again when its record is deleted')
  })

  t.test('an owner can have as many records as the limit allows', async (t) => {
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

  t.test('owners cannot reach records of other owners', async (t) => {
    const { store } = await open(t)
    const made = await create(store, KEY)
    // Another owner, owners that begin with the same text, and a key whose joined text is the same.
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

  t.test('each version can be replaced once', async (t) => {
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

  t.test('values may be any bytes of any length, and names may be long', async (t) => {
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

  t.test('a value that was read does not change with the record', async (t) => {
    const { store } = await open(t)
    const made = await create(store, KEY, 'first')
    const read = await store.read(KEY)
    const replaced = await store.replace(KEY, made.version, toValue('other'))
    t.same([textOf(made), textOf(read), textOf(replaced)], ['first', 'first', 'other'])
    await store.replace(KEY, replaced?.version ?? '', toValue('last'))
    await store.delete(KEY)
    t.same([textOf(made), textOf(read), textOf(replaced)], ['first', 'first', 'other'])
  })
}

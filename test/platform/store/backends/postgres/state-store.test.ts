import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { checkStateStore } from '../../../../contracts/state-store-contract.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../servers/postgres-server.ts'
import { openStore } from './connect.ts'

const LIFETIME = { idleMs: 600_000 }
const KEY = { owner: 'o', name: 'counter' }

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)
  let prefixes = 0

  checkStateStore(t, async (t) => {
    const prefix = `contract-${++prefixes}`
    return {
      store: await openStore(t, server.url, prefix),
      now: Date.now,
      advance: async (ms) => { await pause(ms) },
      reopen: async () => await openStore(t, server.url, prefix)
    }
  }, { unitMs: 150, toleranceMs: 200 })

  t.test('a name that is too long for the index is a mistake, and no outage', async (t) => {
    const store = await openStore(t, server.url, 'long')
    // Random: PostgreSQL compresses what it stores.
    const name = randomBytes(6000).toString('hex')
    const creating = store.create({ owner: 'o', name }, toValue('x'), LIFETIME, 10)
    await t.rejects(creating, { name: 'PostgresError', code: '54000' })
  })

  t.test('the limit holds over replicas whose connections are all open', async (t) => {
    const stores = await Promise.all([1, 2, 3].map(async () => await openStore(t, server.url, 'limited')))
    await Promise.all(stores.map(async (store) => (
      await Promise.all(Array.from({ length: 50 }, async () => await store.peek({ owner: 'o', name: 'n' })))
    )))
    for (let owner = 0; owner < 60; owner++) {
      const made = await Promise.all(Array.from({ length: 21 }, async (_, index) => (
        await stores[index % 3]?.create({ owner: `o${owner}`, name: `n${index}` }, toValue('x'), LIFETIME, 1)
      )))
      t.equal(made.filter((record) => record !== 'full').length, 1)
    }
  })

  t.test('two replicas change one record without losing a change', async (t) => {
    const stores = await Promise.all([1, 2].map(async () => await openStore(t, server.url, 'shared')))
    const key = { owner: 'o', name: 'counter' }
    await stores[0]?.create(key, toValue('0'), LIFETIME, 10)
    await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, async () => {
      for (;;) {
        const record = await store.read(key)
        if (record === undefined) throw new Error('the record is gone')
        const next = toValue(String(Number(textOf(record)) + 1))
        if (await store.replace(key, record.version, next) !== undefined) return
      }
    })))
    t.equal(textOf(await stores[1]?.peek(key)), '40')
  })

  t.test('a use soon after another one writes nothing, and a late one does', async (t) => {
    const store = await openStore(t, server.url, 'uses')
    const key = { owner: 'o', name: 'n' }
    await store.create(key, toValue('x'), LIFETIME, 10)
    const expiryOf = async () => Number((await server.sql('SELECT expires_at FROM uses.records'))[0]?.[0])
    const first = await expiryOf()
    const updates = async () => (await server.sql('SELECT xmin::text FROM uses.records')).flat()
    const before = await updates()
    for (let i = 0; i < 10; i++) await store.read(key)
    t.strictSame(await updates(), before)
    await server.sql('UPDATE uses.records SET expires_at = expires_at - 60000')
    const record = await store.read(key)
    t.ok(await expiryOf() >= first, 'it has its whole lifetime again')
    t.equal(record?.expiresAt, await expiryOf(), 'and the answer says so')
  })

  t.test('two prefixes of one database share nothing', async (t) => {
    const [one, other] = [await openStore(t, server.url, 'a-b'), await openStore(t, server.url, 'a.B')]
    const record = await one.create(KEY, toValue('0'), LIFETIME, 1)
    if (typeof record === 'string') throw new Error(record)
    t.equal(await other.read(KEY), undefined)
    t.equal(await other.replace(KEY, record.version, toValue('1')), undefined)
    t.equal(await other.delete(KEY), false)
    t.equal(typeof await other.create(KEY, toValue('2'), LIFETIME, 1), 'object', 'and count apart')
    t.equal(textOf(await one.read(KEY)), '0')
  })

  t.test('a role that reads NULL in arrays as a text stores the same', async (t) => {
    await server.sql(
      'CREATE ROLE plain_arrays LOGIN SUPERUSER; ALTER ROLE plain_arrays SET array_nulls = off'
    )
    const store = await openStore(t, server.url.replace('//postgres@', '//plain_arrays@'), 'arrays')
    await Promise.all(['a', 'b', 'c'].map(async (name) => {
      const key = { owner: 'o', name }
      const record = await store.create(key, toValue('0'), LIFETIME, 10)
      if (typeof record === 'string') throw new Error(record)
      await store.replace(key, record.version, toValue('1'))
      t.equal(textOf(await store.read(key)), '1')
    }))
  })
}

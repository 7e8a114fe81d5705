// What calls get while PostgreSQL is away, hangs, or refuses, and that they work again by themselves.

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { openBackend } from '../../../../../src/platform/store/backends/url-schemes.ts'
import { StoreUnavailable, type StateStore } from '../../../../../src/platform/store/records/state-store.ts'
import { checkStoreOutages, isThere } from '../../../../contracts/state-store-outages.ts'
import { until, within } from '../../../../helpers/deadline.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import { openFaultyConnection } from '../../../../servers/faulty-connection.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../servers/postgres-server.ts'
import { openSmallDisk } from '../../../../servers/small-disk.ts'
import { openPool, openStore } from './connect.ts'

const KEY = { owner: 'o', name: 'counter' }
const OTHER = { owner: 'o', name: 'other' }
const LIFETIME = { idleMs: 600_000 }
/** A call that takes longer counts as hanging, in milliseconds. */
const QUICK_MS = 2000

const unavailable = (message: RegExp) => ({ name: 'StoreUnavailable', cause: { message } })

async function create (store: StateStore, key = KEY, text = '0'): Promise<string> {
  const record = await store.create(key, toValue(text), LIFETIME, 100_000)
  if (typeof record === 'string') throw new Error(record)
  return record.version
}

const toCauseOf = (error: unknown) => error instanceof StoreUnavailable ? error.cause : error

/** A session of somebody else, which may hold locks. */
async function openClient (t: Test, { url }: PostgresServer): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  t.teardown(async () => await client.end())
  return client
}

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)

  checkStoreOutages(t, {
    startServer: async (t) => await startPostgresServer(t, { isDurable: true }),
    open: openStore
  })

  t.test('a backend whose server hangs closes in time', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const backend = await openBackend(own.url, { log: { warn () {} }, prefix: 'trivet' })
    await create(backend.store)
    own.freeze()
    const reading = backend.store.read(KEY)
    reading.catch(() => {})
    await within(backend.close(), 'its end', 4000)
    await t.rejects(reading, { name: 'StoreUnavailable' })
  })

  t.test('a bounded number of statements waits for a connection', { timeout: 60_000 }, async (t) => {
    const { pool } = await openPool(t, server.url, 'waiting', 1)
    const run = async () => await pool.run({ name: 'wait', text: 'SELECT pg_sleep(0.001)' })
    const all = Array.from({ length: 5200 }, async () => await run().then(() => 'done', String))
    const refused = (await Promise.all(all)).filter((outcome) => /5000 statements wait/.test(outcome))
    t.ok(refused.length > 100 && refused.length <= 200, `${refused.length} were refused`)
    await until(async () => await run().then(() => true, () => false), 'the connection')
  })

  t.test('1,000 callers at once share seven connections', async (t) => {
    const store = await openStore(t, server.url, 'crowd')
    const keys = Array.from({ length: 1000 }, (_, index) => ({ owner: `o${index % 50}`, name: `n${index}` }))
    const versions = await Promise.all(keys.map(async (key) => await create(store, key)))
    const replaced = await Promise.all(keys.map(async (key, index) => (
      await store.replace(key, versions[index] ?? '', toValue(String(index)))
    )))
    t.ok(replaced.every((record) => record !== undefined))
    const read = await Promise.all(keys.map(async (key) => textOf(await store.read(key))))
    t.strictSame(read, keys.map((_, index) => String(index)))
    const [[connections] = []] = await server.sql(
      "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'trivet'"
    )
    t.ok(Number(connections) <= 7, `${String(connections)} connections`)
  })

  t.test('a record that somebody else holds delays no other record', { timeout: 60_000 }, async (t) => {
    const store = await openStore(t, server.url, 'held')
    const [version, other] = [await create(store), await create(store, OTHER)]
    // A read now writes the new expiry.
    await server.sql('UPDATE held.records SET expires_at = expires_at - 60000')
    const client = await openClient(t, server)
    await client.query("BEGIN; SELECT FROM held.records WHERE name = 'counter' FOR UPDATE")
    const held = store.replace(KEY, version, toValue('1'))
    held.catch(() => {})
    const begunAt = performance.now()
    t.equal(textOf(await store.replace(OTHER, other, toValue('1'))), '1', 'of the same statement')
    t.equal(textOf(await store.read(KEY)), '0', 'a read waits for nobody')
    t.ok(performance.now() - begunAt < 500)
    await t.rejects(within(held, 'the refusal', QUICK_MS), unavailable(/somebody held a record/))
    const late = store.replace(KEY, version, toValue('2'))
    await client.query('ROLLBACK')
    t.equal(textOf(await late), '2', 'and waits for a short time')
  })

  t.test('a replacement that has waited and meets a server that hangs rejects in time', {
    timeout: 60_000
  }, async (t) => {
    const hanging = await startPostgresServer(t)
    const store = await openStore(t, hanging.url)
    const version = await create(store)
    const client = new Client({ connectionString: hanging.url })
    client.on('error', () => {})
    await client.connect()
    await client.query('BEGIN; SELECT FROM trivet.records FOR UPDATE')
    const held = within(store.replace(KEY, version, toValue('1')), 'the refusal', QUICK_MS)
    held.catch(() => {})
    await pause(900)
    hanging.freeze()
    await t.rejects(held, unavailable(/did not answer/))
    hanging.thaw()
    await client.end()
  })

  t.test('replacements of a record that somebody holds take no connections', {
    timeout: 60_000
  }, async (t) => {
    const store = await openStore(t, server.url, 'taken')
    const version = await create(store)
    await create(store, OTHER)
    const client = await openClient(t, server)
    await client.query("BEGIN; SELECT FROM taken.records WHERE name = 'counter' FOR UPDATE")
    // One after the other, so that they share no statement.
    const held: Array<Promise<unknown>> = []
    for (let index = 0; index < 20; index++) {
      held.push(within(store.replace(KEY, index === 0 ? version : `v${index}`, toValue('1')), 'it', QUICK_MS)
        .catch((error: unknown) => error))
      await pause(5)
    }
    const begunAt = performance.now()
    for (let index = 0; index < 10; index++) await store.read(OTHER)
    t.ok((performance.now() - begunAt) / 10 < 100)
    const [[waiting] = []] = await server.sql(
      "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    )
    t.equal(waiting, 0)
    t.ok((await Promise.all(held)).every((outcome) => outcome instanceof StoreUnavailable))
    await client.query('ROLLBACK')
    t.equal(textOf(await store.replace(KEY, version, toValue('2'))), '2')
  })

  t.test('of 1,000 replacements of one version at once one is done', { timeout: 60_000 }, async (t) => {
    const store = await openStore(t, server.url, 'contended')
    const version = await create(store)
    const all = await Promise.all(Array.from({ length: 1000 }, async (_, index) => (
      await store.replace(KEY, version, toValue(String(index)))
    )))
    t.equal(all.filter((record) => record !== undefined).length, 1)
  })

  t.test('a record in use does not expire because somebody holds it', { timeout: 60_000 }, async (t) => {
    const store = await openStore(t, server.url, 'used')
    await create(store)
    const client = await openClient(t, server)
    const hold = async (leftMs: number) => {
      await server.sql(`UPDATE used.records SET expires_at = ${Date.now() + leftMs}`)
      await client.query('BEGIN; SELECT FROM used.records FOR UPDATE')
    }
    await hold(100_000)
    t.ok(Number((await store.read(KEY))?.expiresAt) < Date.now() + 100_000, 'the next use extends it')
    await client.query('ROLLBACK')
    await hold(30_000)
    await t.rejects(within(store.read(KEY), 'the refusal', 1000), unavailable(/somebody holds a record/))
    const late = store.read(KEY)
    await pause(50)
    await client.query('ROLLBACK')
    t.ok(Number((await late)?.expiresAt) >= Date.now() + 590_000, 'a short hold does no harm')
  })

  t.test('a read that extends nothing needs no lock that a writer needs', { timeout: 60_000 }, async (t) => {
    const store = await openStore(t, server.url, 'indexed')
    await create(store)
    await create(store, OTHER)
    await server.sql("UPDATE indexed.records SET expires_at = expires_at - 60000 WHERE name = 'other'")
    const client = await openClient(t, server)
    // CREATE INDEX takes this lock.
    await client.query('BEGIN; LOCK TABLE indexed.records IN SHARE MODE')
    const extending = store.read(OTHER)
    t.equal(textOf(await within(store.read(KEY), 'the record', 500)), '0', 'of the same turn')
    t.equal(textOf(await within(extending, 'the other record', QUICK_MS)), '0', 'it has enough time left')
    t.equal(textOf(await within(store.read(OTHER), 'its next use', 500)), '0', 'which waits no more')
    await client.query('ROLLBACK')
  })

  t.test('a table that somebody else locks is an outage', { timeout: 60_000 }, async (t) => {
    const store = await openStore(t, server.url, 'locked')
    await create(store)
    const client = await openClient(t, server)
    await client.query('BEGIN; LOCK TABLE locked.records')
    const acts: ReadonlyArray<() => Promise<unknown>> = [
      async () => await store.read(KEY), async () => await create(store, OTHER),
      async () => await store.delete(KEY)
    ]
    for (const act of acts) {
      await t.rejects(within(act(), 'the refusal', QUICK_MS), { name: 'StoreUnavailable' })
    }
    await client.query('ROLLBACK')
    await until(async () => await store.read(KEY).then(() => true, () => false), 'the record')
    t.equal(await store.read(OTHER), undefined, 'nothing is done later')
  })

  t.test('a server that takes no writes is an outage', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const store = await openStore(t, own.url)
    const version = await create(store)
    const setReadOnly = async (mode: string) => {
      await own.sql(`ALTER SYSTEM SET default_transaction_read_only = ${mode}`)
      await own.sql('SELECT pg_reload_conf()')
    }
    await setReadOnly('on')
    await until(async () => !await isThere(store), 'the store to notice')
    await t.rejects(store.replace(KEY, version, toValue('1')), unavailable(/read-only/))
    await t.rejects(create(store, OTHER), unavailable(/read-only/))
    await setReadOnly('off')
    await until(async () => await isThere(store), 'writes')
    t.equal(textOf(await store.replace(KEY, version, toValue('1'))), '1')
  })

  t.test('fewer connections than wanted suffice, and none is an outage', { timeout: 60_000 }, async (t) => {
    await server.sql('CREATE ROLE few LOGIN CONNECTION LIMIT 2; GRANT CREATE ON DATABASE postgres TO few')
    const store = await openStore(t, server.url.replace('//postgres@', '//few@'), 'few')
    await create(store)
    const all = Array.from({ length: 200 }, async (_, index) => (
      await create(store, { owner: 'o', name: `n${index}` })
    ))
    t.equal((await Promise.all(all)).length, 200)
    await server.sql(`ALTER ROLE few CONNECTION LIMIT 0;
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'`)
    await until(async () => !await isThere(store), 'the connections to end')
    const refusal = async () => await within(store.read(KEY), 'the refusal', QUICK_MS).catch(toCauseOf)
    await until(async () => /too many connections/.test(String(await refusal())), 'the refusal')
    await server.sql('ALTER ROLE few CONNECTION LIMIT 2')
    await until(async () => await isThere(store), 'a connection')
  })

  t.test('on a full disk writes are refused, reads go on, and nothing is lost', {
    timeout: 60_000
  }, async (t) => {
    const disk = await openSmallDisk(t)
    if (disk === undefined) return
    const ballast = join(disk.folder, 'ballast')
    await writeFile(ballast, Buffer.alloc(10_000_000))
    const own = await startPostgresServer(t, { folder: disk.folder, hasLogElsewhere: true })
    const store = await openStore(t, own.url)
    const names: string[] = []
    const fill = async () => {
      // Bytes that cannot be compressed.
      const bytes = Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(Math.random() * 256)))
      for (;;) {
        const name = `n${names.length}`
        const record = await store.create({ owner: 'o', name }, { bytes }, LIFETIME, 10_000)
        if (typeof record === 'string') throw new Error(record)
        names.push(name)
      }
    }
    await t.rejects(fill(), { name: 'StoreUnavailable' })
    t.ok(names.length > 20, `${names.length} records`)
    const areAllThere = async () => {
      for (const name of names) if (await store.peek({ owner: 'o', name }) === undefined) return false
      return true
    }
    t.equal(await areAllThere(), true, 'reads go on')
    await rm(ballast)
    const isWritten = async () => await create(store).then(() => true, () => false)
    await until(isWritten, 'room on the disk', 20_000)
    t.equal(await areAllThere(), true, 'nothing is lost')
  })

  t.test('a lost table is an outage, until somebody brings it back', async (t) => {
    const store = await openStore(t, server.url, 'dropped')
    await create(store)
    await server.sql('ALTER SCHEMA dropped RENAME TO elsewhere')
    for (const act of [store.read, store.peek, store.delete]) {
      await t.rejects(async () => await act(KEY), unavailable(/"dropped.records" does not exist/))
    }
    await server.sql('ALTER SCHEMA elsewhere RENAME TO dropped')
    t.equal(textOf(await store.read(KEY)), '0')
  })

  t.test('a write whose reply is lost is in doubt, and is recognised by reading', async (t) => {
    const faulty = await openFaultyConnection(t, server.port)
    const url = server.url.replace(`:${server.port}`, `:${faulty.port}`)
    const store = await openStore(t, url, 'doubt')
    const version = await create(store)
    faulty.loseReplies()
    await t.rejects(store.replace(KEY, version, toValue('mine')), { name: 'StoreUnavailable' })
    const isBack = async () => await store.read(KEY).then(() => true, () => false)
    await until(isBack, 'the next connection')
    const record = await store.read(KEY)
    t.equal(textOf(record), 'mine', 'it was done')
    t.not(record?.version, version)
    t.equal(await store.confirm(KEY, record?.version ?? ''), true)
    faulty.cut()
    await until(isBack, 'the next connection')
  })

  t.test('no error and no line has the password', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t, {
      access: ['host all all 127.0.0.1/32 scram-sha-256']
    })
    await own.sql("ALTER ROLE postgres PASSWORD 'hunter2'")
    const url = own.url.replace('postgres@', 'postgres:hunter2@')
    const { pool, errors } = await openPool(t, url)
    const refusal = await openPool(t, own.url.replace('postgres@', 'postgres:hunter3@')).catch(String)
    t.match(refusal, /password authentication failed/)
    t.notMatch(refusal, /hunter/)
    await own.stop()
    await t.rejects(pool.run({ name: 'x', text: 'SELECT 1' }))
    t.ok(errors.length > 0)
    for (const error of errors) t.notMatch(`${error.stack} ${JSON.stringify(error)}`, /hunter/)
  })
}

// What is durable when PostgreSQL has acknowledged it: after a crash, and on a synchronous standby.
// https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION

import t, { type Test } from 'tap'
import { createPostgresDueTimes } from '../../../../../src/platform/store/backends/postgres/due-times.ts'
import { openBackend } from '../../../../../src/platform/store/backends/url-schemes.ts'
import type { StateStore } from '../../../../../src/platform/store/records/state-store.ts'
import { until, within } from '../../../../helpers/deadline.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../servers/postgres-server.ts'
import { openPool, openStore } from './connect.ts'

const KEY = { owner: 'o', name: 'counter' }
const LIFETIME = { idleMs: 600_000 }
const QUICK_MS = 2000
const UNAVAILABLE = { name: 'StoreUnavailable' }

const toKey = (name: string) => ({ owner: 'o', name })

async function create (store: StateStore, name: string): Promise<string> {
  const created = await store.create(toKey(name), toValue(name), LIFETIME, 100_000)
  if (typeof created === 'string') throw new Error(created)
  return created.version
}

const canWrite = async (store: StateStore, name: string) => (
  await create(store, name).then(() => true, () => false)
)

/** Starts a server whose standby must confirm each commit. */
async function startPair (t: Test): Promise<{ primary: PostgresServer, standby: PostgresServer }> {
  const primary = await startPostgresServer(t)
  const standby = await primary.startStandby()
  await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await primary.sql('SELECT pg_reload_conf()')
  const isSynchronous = async () => (
    await primary.sql("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")
  ).length === 1
  await until(isSynchronous, 'the standby', 20_000)
  return { primary, standby }
}

if (hasPostgresServer(t)) {
  t.test('after a crash all that was acknowledged is there', { timeout: 60_000 }, async (t) => {
    const server = await startPostgresServer(t, { isDurable: true })
    const store = await openStore(t, server.url)
    const names = Array.from({ length: 200 }, (_, index) => `n${index}`)
    const versions = await Promise.all(names.map(async (name) => await create(store, name)))
    await Promise.all(names.map(async (name, index) => (
      index % 2 === 0 ? await store.replace(toKey(name), versions[index] ?? '', toValue('new')) : undefined
    )))
    await server.kill()
    await server.restart()
    await until(async () => await store.check().then(() => true, () => false), 'the server', 10_000)
    const read = await Promise.all(names.map(async (name) => textOf(await store.peek(toKey(name)))))
    t.strictSame(read, names.map((name, index) => index % 2 === 0 ? 'new' : name))
  })

  t.test('a role whose commits do not wait for the disk is named in the log', async (t) => {
    const server = await startPostgresServer(t)
    const warnings: string[] = []
    const log = { warn (_: object, message: string) { warnings.push(message) } }
    const open = async () => await (await openBackend(server.url, { log, prefix: 'trivet' })).close()
    await open()
    t.strictSame(warnings, [])
    await server.sql('ALTER ROLE postgres SET synchronous_commit = off')
    await open()
    t.match(warnings, [/^PostgreSQL: synchronous_commit is off for this role or database: a crash loses/])
  })

  t.test('without its standby nothing is acknowledged, and nothing that tells of an earlier write', {
    timeout: 120_000
  }, async (t) => {
    const { primary, standby } = await startPair(t)
    const { pool, names } = await openPool(t, primary.url)
    const store = await openStore(t, primary.url)
    const dueTimes = createPostgresDueTimes(pool, names)
    const version = await create(store, KEY.name)
    await dueTimes.set('a', 1000, 1)
    standby.freeze()
    const acts: ReadonlyArray<readonly [name: string, act: () => Promise<unknown>]> = [
      ['create', async () => await create(store, 'other')],
      ['taken', async () => await store.create(KEY, toValue('9'), LIFETIME, 10)],
      ['replace', async () => await store.replace(KEY, version, toValue('1'))],
      ['another version', async () => await store.replace(KEY, 'none', toValue('1'))],
      ['two replacements', async () => await Promise.all([
        store.replace(toKey('x'), 'none', toValue('1')), store.replace(toKey('y'), 'none', toValue('1'))
      ])],
      ['confirm', async () => await store.confirm(KEY, version)],
      ['not confirmed', async () => await store.confirm(KEY, 'none')],
      ['nothing to delete', async () => await store.delete(toKey('none'))],
      ['a due time', async () => await dueTimes.set('a', 1000, 2)],
      ['an earlier generation', async () => await dueTimes.set('a', 1000, 1)]
    ]
    for (const [name, act] of acts) {
      await t.rejects(within(act(), `an answer to ${name}`, QUICK_MS), UNAVAILABLE, name)
    }
    t.ok(await store.peek(KEY), 'reads go on')
    const [[waiting] = []] = await primary.sql(
      "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    )
    t.ok(Number(waiting) <= 2, `${String(waiting)} connections wait on the server`)
    standby.thaw()
    await until(async () => await canWrite(store, 'after'), 'the standby', 20_000)
    const record = await store.peek(KEY)
    t.equal(await store.confirm(KEY, record?.version ?? ''), true, 'what is there is confirmed now')
  })

  t.test('a commit whose wait was cancelled is not acknowledged, and what it wrote is confirmed later', {
    timeout: 60_000
  }, async (t) => {
    const { primary, standby } = await startPair(t)
    const store = await openStore(t, primary.url)
    const version = await create(store, KEY.name)
    standby.freeze()
    const writing = store.replace(KEY, version, toValue('1'))
    writing.catch(() => {})
    const cancel = async () => (await primary.sql(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    )).length > 0
    await until(cancel, 'the wait')
    await t.rejects(within(writing, 'an answer', QUICK_MS), {
      name: 'StoreUnavailable', cause: { message: 'the standby did not confirm the commit' }
    })
    const record = await store.peek(KEY)
    t.equal(textOf(record), '1', 'others see it')
    await t.rejects(store.confirm(KEY, record?.version ?? ''), UNAVAILABLE, 'and it is not confirmed')
    standby.thaw()
    const isConfirmed = async () => await store.confirm(KEY, record?.version ?? '').catch(() => false)
    await until(isConfirmed, 'the standby', 20_000)
  })

  t.test('a failover to the standby loses nothing that was acknowledged', { timeout: 120_000 }, async (t) => {
    const { primary, standby } = await startPair(t)
    const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
    const store = await openStore(t, url)
    const acknowledged: string[] = []
    const over = new AbortController()
    const writing = Promise.all(Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 0; !over.signal.aborted; number++) {
        const name = `w${writer}-${number}`
        if (await canWrite(store, name)) acknowledged.push(name)
      }
    }))
    await until(() => acknowledged.length > 200, 'writes before the failover', 20_000)
    await primary.kill()
    await standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    await standby.sql('SELECT pg_promote()')
    const before = acknowledged.length
    await until(() => acknowledged.length > before + 200, 'writes after the failover', 20_000)
    over.abort()
    await writing
    const kept = new Set((await store.list('o')).keys())
    t.strictSame(acknowledged.filter((name) => !kept.has(name)), [])
  })

  t.test('after a failover replicas hear that they missed something, and go on', {
    timeout: 120_000
  }, async (t) => {
    const { primary, standby } = await startPair(t)
    const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
    const open = async () => {
      const backend = await openBackend(url, { log: { warn () {} }, prefix: 'trivet' })
      t.teardown(async () => await backend.close())
      return backend
    }
    const [here, there] = [await open(), await open()]
    const heard: string[] = []
    there.broadcast.listen(({ type }) => { heard.push(type) }, () => { heard.push('missed') })
    await here.broadcast.send({ type: 'before' })
    await here.dueTimes.set('a', 0, 1)
    await here.eventLog.append('s', { position: 1, text: 'x' })
    await until(() => heard.includes('before'), 'the message')
    await primary.kill()
    await standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    await standby.sql('SELECT pg_promote()')
    await until(() => heard.includes('missed') && here.broadcast.isConnected, 'the report', 20_000)
    await here.broadcast.send({ type: 'after' })
    await until(() => heard.includes('after'), 'a message afterwards')
    t.strictSame((await there.dueTimes.take(10, 1000)).entries, ['a'], 'due times are kept')
    t.equal(await there.eventLog.read('s', 0), undefined, 'the event log is not')
    await here.eventLog.append('s', { position: 2, text: 'x' })
    t.equal(await here.callCounter.count([{ key: 'a', calls: 1, perMs: 60_000 }]), undefined)
  })

  t.test('a standby is never used', { timeout: 60_000 }, async (t) => {
    const primary = await startPostgresServer(t)
    await openStore(t, primary.url)
    const standby = await primary.startStandby()
    await t.rejects(openStore(t, standby.url), { message: /takes no writes: a standby, or read-only/ })
    const url = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`
    const store = await openStore(t, url)
    t.type(await create(store, 'a'), 'string')
  })
}

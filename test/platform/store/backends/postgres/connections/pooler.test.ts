// PostgreSQL behind PgBouncer.

import t from 'tap'
import { openPostgresBroadcast } from '../../../../../../src/platform/store/backends/postgres/broadcast.ts'
import { openPostgresStateStore } from '../../../../../../src/platform/store/backends/postgres/state-store.ts'
import { openBackend } from '../../../../../../src/platform/store/backends/url-schemes.ts'
import { until, within } from '../../../../../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../../../../../helpers/log.ts'
import { textOf, toValue } from '../../../../../helpers/state-value.ts'
import { hasPgbouncer, startPgbouncer } from '../../../../../servers/pgbouncer.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../../servers/postgres-server.ts'
import { openPool, stopPolls } from '../connect.ts'

const LIFETIME = { idleMs: 600_000 }
const toKey = (name: string) => ({ owner: 'o', name })

if (hasPostgresServer(t) && hasPgbouncer(t)) {
  const server = await startPostgresServer(t)

  t.test('in transaction mode all works, and the log says once what is lacking', {
    timeout: 60_000
  }, async (t) => {
    const url = await startPgbouncer(t, server, 'transaction')
    const logs = [createReadableLog(), createReadableLog()] as const
    const open = async ({ logger }: ReadableLog) => {
      const backend = await openBackend(url, { log: logger, prefix: 'pooled' })
      t.teardown(async () => await backend.close())
      return backend
    }
    const [here, there] = [await open(logs[0]), await open(logs[1])]
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`)
    const made = await Promise.all(names.map(async (name, index) => (
      await [here, there][index % 2]?.store.create(toKey(name), toValue('0'), LIFETIME, 60)
    )))
    t.equal(made.filter((record) => record === 'full').length, 40, 'the limit holds')
    const live = [...(await here.store.list('o')).keys()]
    // Each change waits for those before it, 500 ms at most.
    await Promise.all(Array.from({ length: 12 }, async (_, index) => {
      const { store } = index % 2 === 0 ? here : there
      for (;;) {
        const record = await store.read(toKey(live[0] ?? ''))
        if (record === undefined) throw new Error('the record is gone')
        const next = toValue(String(Number(textOf(record)) + 1))
        if (await store.replace(toKey(live[0] ?? ''), record.version, next) !== undefined) return
      }
    }))
    t.equal(textOf(await here.store.read(toKey(live[0] ?? ''))), '12', 'no change is lost')
    await here.dueTimes.set('a', 0, 1)
    t.strictSame((await there.dueTimes.take(10, 1000)).entries, ['a'])
    await here.eventLog.append('s', { position: 1, text: 'x' })
    t.strictSame(await there.eventLog.read('s', 0), [{ position: 1, text: 'x' }])
    const rate = { key: 'a', calls: 1, perMs: 60_000 }
    t.equal(await here.callCounter.count([rate]), undefined)
    t.match(await there.callCounter.count([rate]), { rate })

    const heard: unknown[] = []
    there.broadcast.listen((message) => { heard.push(message) })
    for (let number = 0; number < 5; number++) await here.broadcast.send({ type: 'a', number })
    await until(() => heard.length === 5, 'the messages')
    t.equal(there.broadcast.isConnected, true)
    for (const { lines } of logs) {
      const problems = lines.map(({ msg }) => String(msg)).filter((line) => line.includes('a pooler'))
      t.equal(problems.length, new Set(problems).size, 'the replica says each restriction once')
      for (const what of [/does not keep settings/, /does not pass on NOTIFY/]) {
        t.ok(problems.some((problem) => what.test(problem)), String(what))
      }
    }
  })

  t.test('its statements have limits too', { timeout: 60_000 }, async (t) => {
    const url = await startPgbouncer(t, server, 'transaction', ['query_wait_timeout = 1'])
    const { pool, names } = await openPool(t, url, 'limited')
    const store = openPostgresStateStore(pool, names)
    await store.create(toKey('a'), toValue('0'), LIFETIME, 10)
    const [[timeout, level] = []] = await pool.run({
      name: 'limits', text: "SELECT current_setting('lock_timeout'), current_setting('client_min_messages')"
    })
    t.strictSame([timeout, level], ['1001ms', 'warning'])
    await server.sql('ALTER TABLE limited.records RENAME TO away')
    await t.rejects(store.read(toKey('a')), { cause: { code: '42P01' } }, 'an error ends its transaction')
    await server.sql('ALTER TABLE limited.away RENAME TO records')
    t.equal(textOf(await store.read(toKey('a'))), '0')
    server.freeze()
    await t.rejects(within(store.read(toKey('a')), 'an answer', 2000), { name: 'StoreUnavailable' })
    server.thaw()
    await until(async () => await store.read(toKey('a')).then(() => true, () => false), 'the server', 10_000)
  })

  t.test('a pooler that loses prepared statements costs nothing but their preparation', async (t) => {
    // It takes the settings of sessions and forgets them.
    const url = await startPgbouncer(t, server, 'transaction', [
      'ignore_startup_parameters = options', 'server_reset_query_always = 1',
      'server_reset_query = DISCARD ALL'
    ])
    const { pool, names, restrictions, target } = await openPool(t, url, 'forgetful')
    const store = openPostgresStateStore(pool, names)
    await store.create(toKey('a'), toValue('0'), LIFETIME, 10)
    const read = async () => textOf(await store.peek(toKey('a')))
    for (let round = 0; round < 5; round++) {
      const texts = await Promise.all(Array.from({ length: 50 }, read))
      t.ok(texts.every((text) => text === '0'))
    }
    t.equal(target.isPrepared, false)
    t.equal(target.isPooled, true)
    t.strictSame([...new Set(restrictions)].length, restrictions.length)
    t.ok(restrictions.some((problem) => /does not keep prepared statements/.test(problem)))
  })

  t.test('a pooler is recognised though the server limits waits for locks to a second', async (t) => {
    const own = await startPostgresServer(t, { settings: ['lock_timeout = 1s'] })
    const url = await startPgbouncer(t, own, 'transaction', ['ignore_startup_parameters = options'])
    const { target } = await openPool(t, url)
    t.equal(target.isPooled, true)
  })

  t.test('in session mode messages wake their readers', async (t) => {
    stopPolls(t)
    const url = await startPgbouncer(t, server, 'session', ['default_pool_size = 40'])
    const parts = [await openPool(t, url, 'session'), await openPool(t, url, 'session')] as const
    const [here, there] = await Promise.all(parts.map(async ({ target, pool, names }) => {
      const broadcast = await openPostgresBroadcast({ target, runner: pool, names, onError: t.error })
      t.teardown(async () => await broadcast.close())
      return broadcast
    }))
    const heard: unknown[] = []
    there?.listen((message) => { heard.push(message) })
    await here?.send({ type: 'a' })
    await until(() => heard.length === 1, 'the message')
    t.notOk(parts.some(({ restrictions }) => restrictions.some((problem) => /NOTIFY/.test(problem))))
  })
}

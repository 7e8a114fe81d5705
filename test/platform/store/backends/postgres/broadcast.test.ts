import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openPostgresBroadcast } from '../../../../../src/platform/store/backends/postgres/broadcast.ts'
import type { Statement } from '../../../../../src/platform/store/backends/postgres/statement.ts'
import { toNames } from '../../../../../src/platform/store/backends/postgres/schema/schema.ts'
import { createSweep } from '../../../../../src/platform/store/backends/postgres/sweep.ts'
import { toChannelName } from '../../../../../src/platform/store/backends/postgres/wakeups.ts'
import type { Broadcast } from '../../../../../src/platform/store/changes/broadcast.ts'
import { checkBroadcast } from '../../../../contracts/broadcast-contract.ts'
import { hearMessages, numbered } from '../../../../contracts/broadcast-listeners.ts'
import {
  checkChannelBroadcast, type BroadcastReplica
} from '../../../../contracts/channel-broadcast-contract.ts'
import { until, within } from '../../../../helpers/deadline.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../servers/postgres-server.ts'
import { openPool, stopPolls } from './connect.ts'

type OnError = (error: unknown) => void

async function connect (t: Test, url: string): Promise<Broadcast> {
  return (await openReplica(t, url)).broadcast
}

async function openReplica (t: Test, url: string, onError: OnError = () => {}): Promise<BroadcastReplica> {
  const { target, pool, names } = await openPool(t, url)
  let isCut = false
  const runner = {
    async run (statement: Statement, values?: unknown[]) {
      if (isCut && statement.text.includes('INSERT INTO')) throw new Error('the test cuts it off')
      return await pool.run(statement, values)
    }
  }
  const broadcast = await openPostgresBroadcast({ target, runner, names, onError })
  t.teardown(async () => await broadcast.close())
  return {
    broadcast,
    async whileCut (work) {
      isCut = true
      await work()
      isCut = false
    }
  }
}

async function sendTexts (server: PostgresServer, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await server.sql(`
      WITH numbered AS (UPDATE trivet.channel SET last_id = last_id + 1 RETURNING last_id)
      INSERT INTO trivet.messages SELECT last_id, 'x', $text$${text}$text$, 9e15 FROM numbered`)
  }
  await server.sql(`SELECT pg_notify('${toChannelName(toNames('trivet'))}', '')`)
}

const LISTENERS = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)

  checkBroadcast(t, async () => await connect(t, server.url))

  checkChannelBroadcast(t, server, {
    channel: 'trivet.messages',
    silence: /did not answer|had no connection/,
    startServer: startPostgresServer,
    open: async (t, { url }, onError) => await openReplica(t, url, onError),
    sendTexts
  })

  t.test('the time is exact for a role that gets few digits', async (t) => {
    await server.sql('CREATE ROLE rough LOGIN SUPERUSER; ALTER ROLE rough SET extra_float_digits = -15')
    const broadcast = await connect(t, server.url.replace('//postgres@', '//rough@'))
    const [before, time, after] = [Date.now(), await broadcast.time(), Date.now()]
    t.ok(time >= before - 1 && time <= after + 1, `${before} ${time} ${after}`)
  })

  t.test('a message wakes the others', async (t) => {
    stopPolls(t)
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const { heard } = hearMessages(there)
    await here.send(numbered(1))
    await until(() => heard.length > 0, 'the message')
  })

  t.test('a message that comes while a page is read is read too', async (t) => {
    stopPolls(t)
    const here = await connect(t, server.url)
    const { target, pool, names } = await openPool(t, server.url)
    let release: (() => void) | undefined
    let isHolding = false
    const runner = {
      async run (statement: Statement, values?: unknown[]) {
        const rows = await pool.run(statement, values)
        if (isHolding && statement.text.includes('LEFT JOIN')) {
          await new Promise<void>((resolve) => { release = resolve })
        }
        return rows
      }
    }
    const there = await openPostgresBroadcast({ target, runner, names, onError: t.error })
    t.teardown(async () => await there.close())
    const { heard } = hearMessages(there)
    isHolding = true
    await here.send(numbered(1))
    await until(() => release !== undefined, 'the page')
    isHolding = false
    await here.send(numbered(2))
    // A wake-up that took longer would find no page that is read.
    await pause(100)
    release?.()
    await until(() => heard.length === 2, 'both messages', 10_000)
  })

  t.test('a restart in order loses no message, and nobody is told', { timeout: 60_000 }, async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const { heard, missed } = hearMessages(there)
    await here.send(numbered(1))
    await own.stop()
    await until(() => !here.isConnected && !there.isConnected, 'both to notice the outage')
    await own.restart()
    await until(() => here.isConnected && there.isConnected, 'both to be connected', 10_000)
    await here.send(numbered(2))
    await until(() => heard.length === 2, 'both messages')
    t.equal(missed(), 0)
  })

  t.test('after a stop in order only the others are told of a message that was not sent', {
    timeout: 60_000
  }, async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    await own.stop()
    await t.rejects(within(here.send(numbered(1)), 'an answer without PostgreSQL', 2500))
    await own.restart()
    await until(() => hearsThere.missed() > 0, 'the other to be told', 10_000)
    t.equal(hears.missed(), 0)
    t.strictSame(hearsThere.heard, [])
  })

  t.test('a lost connection that listens is replaced, and nothing is missed', async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const { heard, missed } = hearMessages(there)
    await own.sql(`SELECT pg_terminate_backend(pid) ${LISTENERS}`)
    await here.send(numbered(1))
    await until(() => heard.length === 1, 'the message')
    await until(async () => (await own.sql(`SELECT ${LISTENERS}`)).length === 2, 'both to listen again')
    t.equal(missed(), 0)
  })

  t.test('a replica that reads behind what was removed is told', async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const { heard, missed } = hearMessages(there)
    await own.sql('UPDATE trivet.channel SET last_id = last_id + 5, removed_id = last_id + 4')
    await here.send(numbered(1))
    await until(() => heard.length === 1, 'the message that was not removed')
    t.equal(missed(), 1)
  })

  t.test('old messages are removed, and who has read them misses nothing', async (t) => {
    const own = await startPostgresServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const { pool, names } = await openPool(t, own.url)
    const { heard, missed } = hearMessages(there)
    for (let number = 0; number < 20; number++) await here.send(numbered(number))
    await until(() => heard.length === 20, 'all messages')
    await own.sql('UPDATE trivet.messages SET sent_at = sent_at - 120000')
    const sweep = createSweep(pool, names, { onError: t.error })
    t.teardown(async () => await sweep.close())
    await sweep.sweep()
    t.strictSame(await own.sql('SELECT count(*)::int FROM trivet.messages'), [[0]])
    t.strictSame(await own.sql('SELECT removed_id = last_id FROM trivet.channel'), [[true]])
    await here.send(numbered(20))
    await until(() => heard.length === 21, 'one more')
    t.equal(missed(), 0)
  })

  t.test('prefixes are apart', async (t) => {
    const here = await connect(t, server.url)
    const { target, pool, names } = await openPool(t, server.url, 'other')
    const other = await openPostgresBroadcast({ target, runner: pool, names, onError: t.error })
    t.teardown(async () => await other.close())
    const { heard } = hearMessages(other)
    await here.send(numbered(1))
    await other.send(numbered(2))
    await here.send(numbered(3))
    await other.send(numbered(4))
    await until(() => heard.length === 2, 'its own messages')
    t.strictSame(heard, [numbered(2), numbered(4)])
  })
}

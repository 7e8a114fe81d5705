import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Pool } from '../../../../../../src/platform/store/backends/postgres/connections/pool.ts'
import { until } from '../../../../../helpers/deadline.ts'
import { openFaultyConnection, type FaultyConnection } from '../../../../../servers/faulty-connection.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../../../../../servers/postgres-server.ts'
import { openPool } from '../connect.ts'

const PID = { name: 'pid', text: 'SELECT pg_backend_pid()' }
const toSleep = (seconds: number) => ({ name: `sleep-${seconds}`, text: `SELECT pg_sleep(${seconds})` })

function urlOver (server: PostgresServer, faulty: FaultyConnection): string {
  return server.url.replace(String(server.port), String(faulty.port))
}

if (hasPostgresServer(t)) {
  t.test('only a statement that had the full time shortens the time of the next ones', async (t) => {
    const { pool } = await openPool(t, (await startPostgresServer(t)).url)
    const short = pool.run(toSleep(5), [], { timeoutMs: 100 })
    await t.rejects(short, { message: 'PostgreSQL did not answer within 100 ms' })
    const late = pool.run(toSleep(0), [], { waitedMs: 1500 })
    await t.rejects(late, { message: 'PostgreSQL was not asked within 1400 ms' })
    await pool.run(toSleep(0.6))
  })

  t.test('a server whose every reply takes long is used, although a connection takes several', async (t) => {
    const server = await startPostgresServer(t)
    const faulty = await openFaultyConnection(t, server.port)
    const { pool } = await openPool(t, urlOver(server, faulty), 'trivet', 1)
    faulty.delay(480)
    await t.rejects(pool.run(PID), { message: 'PostgreSQL did not answer within 1400 ms' })
    await until(async () => await pool.run(PID).then(() => true, () => false), 'an answer', 2000)
    t.ok(await pool.run(PID), 'the connection stays')
  })

  t.test('a new connection that never answers is given up', async (t) => {
    const server = await startPostgresServer(t)
    const faulty = await openFaultyConnection(t, server.port)
    const { pool } = await openPool(t, urlOver(server, faulty), 'trivet', 1)
    const running = pool.run(toSleep(1))
    await pause(500)
    faulty.delay(8000)
    await t.rejects(running, { message: 'PostgreSQL did not answer within 1400 ms' })
    faulty.delay(0)
    await until(async () => await pool.run(PID).then(() => true, () => false), 'another connection')
  })

  t.test('connections that are not needed are closed, and opened again', async (t) => {
    const server = await startPostgresServer(t)
    const { target } = await openPool(t, server.url)
    const pool = new Pool(target, { size: 3, idleMs: 800, onError: t.error })
    t.teardown(async () => await pool.close())
    const countConnections = async () => Number((await server.sql(
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'trivet'"
    ))[0]?.[0])
    await Promise.all([1, 2, 3].map(async () => await pool.run(toSleep(0.2))))
    t.equal(await countConnections(), 3)
    const used = await pool.run(PID)
    await until(async () => {
      t.strictSame(await pool.run(PID), used)
      return await countConnections() === 1
    }, 'the others to be closed')
    await until(async () => await countConnections() === 0, 'the last one to be closed')
    await pause(10)
    t.notSame(await pool.run(PID), used)
  })
}

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Pool } from '../../../../../src/store/backends/postgres/connections/pool.ts'
import { until } from '../../../../helpers/deadline.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../servers/postgres-server.ts'
import { openPool } from '../connect.ts'

const PID = { name: 'pid', text: 'SELECT pg_backend_pid()' }
const toSleep = (seconds: number) => ({ name: `sleep-${seconds}`, text: `SELECT pg_sleep(${seconds})` })

if (hasPostgresServer(t)) {
  t.test('only a statement that had the full time shortens the time of the next ones', async (t) => {
    const { pool } = await openPool(t, (await startPostgresServer(t)).url)
    const short = pool.run(toSleep(5), [], { timeoutMs: 100 })
    await t.rejects(short, { message: 'PostgreSQL did not answer within 100 ms' })
    const late = pool.run(toSleep(0), [], { waitedMs: 1500 })
    await t.rejects(late, { message: 'PostgreSQL was not asked within 1400 ms' })
    await pool.run(toSleep(0.6))
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

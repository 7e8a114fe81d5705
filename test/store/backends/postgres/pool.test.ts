import t from 'tap'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

const toSleep = (seconds: number) => ({ name: `sleep-${seconds}`, text: `SELECT pg_sleep(${seconds})` })

if (hasPostgresServer(t)) {
  t.test('only a statement that had the full time shortens the time of the next ones', async (t) => {
    const { pool } = await openPool(t, (await startPostgresServer(t)).url)
    await t.rejects(pool.run(toSleep(5), [], 100), { message: 'PostgreSQL did not answer within 100 ms' })
    await pool.run(toSleep(0.6))
  })
}

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { hasPostgresServer, startPostgresServer } from '../../../../../servers/postgres-server.ts'
import { openPool } from '../connect.ts'

const PID = { name: 'pid', text: 'SELECT pg_backend_pid()' }

if (hasPostgresServer(t)) {
  t.test('the limits of idle sessions of the server do not end a session, its own ones do', async (t) => {
    const server = await startPostgresServer(t, { settings: ['idle_session_timeout = 200ms'] })
    const { pool } = await openPool(t, server.url, 'trivet', 1)
    const before = await pool.run(PID)
    await pause(600)
    t.strictSame(await pool.run(PID), before)
    const [[limit] = []] = await pool.run({ name: 'limit', text: 'SHOW idle_in_transaction_session_timeout' })
    t.equal(limit, '1300ms')
  })
}

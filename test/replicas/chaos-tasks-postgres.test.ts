// Connections to PostgreSQL are cut, the server crashes, and its standby takes over, while three replicas
// serve tasks, handles and repeated calls. What was acknowledged is there, once. CHAOS_SECONDS is the
// duration: then replicas are killed as well. `npm run chaos:tasks` prints the figures of a minute.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../helpers/deadline.ts'
import { hasNginx } from '../servers/nginx.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../servers/postgres-server.ts'
import { checkReplicas, IS_LONG } from './chaos-tasks-replicas.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 6)
const CUT_EVERY_MS = IS_LONG ? 2000 : 700
/** How long the server is away after a crash. */
const AWAY_MS = 500
const CRASH_EVERY_MS = 10_000
/** The last writes of the server, which its standby never gets: none of them may be acknowledged. */
const CUT_OFF_MS = 300

if (hasPostgresServer(t) && hasNginx(t)) {
  t.setTimeout(SECONDS * 1000 + 180_000)
  t.test('nothing acknowledged is lost or doubled when PostgreSQL crashes and its standby takes over', {
    timeout: SECONDS * 1000 + 150_000
  }, async (t) => {
    const primary = await startPostgresServer(t, { isDurable: true })
    const standby = await primary.startStandby()
    await configure(primary, "synchronous_standby_names = '*'")
    await until(async () => {
      const [[state] = []] = await primary.sql('SELECT sync_state FROM pg_stat_replication')
      return state === 'sync'
    }, 'the standby', 20_000)
    await checkReplicas(t, {
      stateUrl: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`,
      seconds: SECONDS,
      async makeFaults (end) {
        const before = await disturb(primary, end - SECONDS * 500)
        await failOver(primary, standby)
        const after = await disturb(standby, end)
        return `${before.cuts + after.cuts} cuts of connections, ` +
          `${before.crashes + after.crashes} crashes of PostgreSQL, 1 failover to its standby`
      }
    })
  })
}

async function configure (server: PostgresServer, setting: string): Promise<void> {
  await server.sql(`ALTER SYSTEM SET ${setting}`)
  await server.sql('SELECT pg_reload_conf()')
}

const CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trivet'"

/** Cuts connections, most of them with a statement under way, and crashes the server now and then. */
async function disturb (server: PostgresServer, end: number) {
  let [cuts, crashes] = [0, 0]
  let crashAt = performance.now() + CRASH_EVERY_MS
  for (; performance.now() < end; await pause(CUT_EVERY_MS)) {
    await server.sql(CUT)
    cuts++
    if (performance.now() < crashAt) continue
    await server.kill()
    await pause(AWAY_MS)
    await server.restart()
    crashes++
    crashAt = performance.now() + CRASH_EVERY_MS
  }
  return { cuts, crashes }
}

async function failOver (primary: PostgresServer, standby: PostgresServer): Promise<void> {
  standby.freeze()
  await pause(CUT_OFF_MS)
  await primary.kill()
  standby.thaw()
  await standby.sql('SELECT pg_promote()')
  // Whoever promotes a standby says that it has none itself.
  await configure(standby, "synchronous_standby_names = ''")
}

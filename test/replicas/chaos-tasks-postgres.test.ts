// Connections to PostgreSQL are cut, the server crashes, and its standby takes over, while three replicas
// serve tasks, handles and repeated calls. What was acknowledged is there, once. CHAOS_SECONDS is the
// duration: then replicas are killed as well. `npm run chaos:tasks` prints the figures of a minute.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../helpers/deadline.ts'
import { toReplicaEnvironment } from '../helpers/replicas.ts'
import { hasNginx, startNginx } from '../servers/nginx.ts'
import {
  hasPostgresServer, startPostgresServer, type PostgresServer
} from '../servers/postgres-server.ts'
import { checkLoad, prepareLoad } from './chaos-tasks-load.ts'
import { killInTurn, openPlaces } from './places.ts'

const IS_LONG = process.env.CHAOS_SECONDS !== undefined
const SECONDS = Number(process.env.CHAOS_SECONDS ?? 6)
const LEASE_MS = 1500
const KILL_EVERY_MS = 4000
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
    const over = new AbortController()
    try {
      await check(t, over.signal)
    } finally {
      over.abort()
    }
  })
}

async function check (t: Test, signal: AbortSignal): Promise<void> {
  const primary = await startPostgresServer(t, { isDurable: true })
  const standby = await primary.startStandby()
  await configure(primary, "synchronous_standby_names = '*'")
  await until(async () => {
    const [[state] = []] = await primary.sql('SELECT sync_state FROM pg_stat_replication')
    return state === 'sync'
  }, 'the standby', 20_000)
  const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
  const setup = await prepareLoad(t, LEASE_MS)
  const environment = {
    ...await toReplicaEnvironment(t, url, setup.environment.TRIVET_CATALOG ?? ''), ...setup.environment
  }
  const places = await openPlaces(t, { signal, places: 3, spares: IS_LONG ? 3 : 0, environment })
  const origin = await startNginx(t, places.map(({ port }) => port))
  await checkLoad(t, `${origin}/mcp`, setup, async () => {
    const end = performance.now() + SECONDS * 1000
    const half = performance.now() + SECONDS * 500
    const killing = IS_LONG ? killInTurn(places, KILL_EVERY_MS, end) : 0
    const before = await disturb(primary, half)
    await failOver(primary, standby)
    const after = await disturb(standby, end)
    return `${SECONDS} s: ${await killing} replicas killed, ${before.cuts + after.cuts} cuts of connections, ` +
      `${before.crashes + after.crashes} crashes of PostgreSQL, 1 failover to its standby`
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

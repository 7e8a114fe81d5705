// A store that is away for a second, at any moment of the start, is waited for.

import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { openFaultyConnection } from '../../servers/faulty-connection.ts'
import { openLeavingServer } from '../../servers/leaving-server.ts'
import { hasPostgresServer, startPostgresServer } from '../../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'

/** Starts that run at once. */
const AT_ONCE = 12
const DEADLINE = { timeout: 240_000 }
const SERVERS = [
  {
    name: 'Redis',
    isThere: hasRedisServer,
    start: async (t: Test) => await startRedisServer(t),
    toUrl: (port: number) => `redis://127.0.0.1:${port}`
  },
  {
    name: 'PostgreSQL',
    isThere: hasPostgresServer,
    start: async (t: Test) => await startPostgresServer(t, { settings: ['max_connections = 400'] }),
    toUrl: (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`
  }
] as const

// Most of the time they wait for the store.
t.jobs = 2

for (const { name, isThere, start, toUrl } of SERVERS) {
  t.test(`${name} may be away for a second at any moment of the start`, DEADLINE, async (t) => {
    if (!isThere(t)) return
    const server = await start(t)

    /** Resolves to how many packets passed, or to why the service has not started. */
    async function startAway (at: number, ms: number): Promise<number | string> {
      const leaving = await openLeavingServer(t, server.port, { at, ms })
      const options: AppOptions = {
        stateUrl: toUrl(leaving.port), statePrefix: `p${ms}_${at}`, secrets: ['s'.repeat(32)]
      }
      return await buildApp(t, {}, options).then(async (app) => {
        await app.close()
        return leaving.passed
      }, (error: Error) => error.message.replaceAll(String(leaving.port), 'PORT'))
    }

    const packets = Number(await startAway(Infinity, 0))
    t.ok(packets > 20, `${packets} packets`)
    const moments = Array.from({ length: packets + 2 }, (_, at) => at)
    for (let first = 0; first < moments.length; first += AT_ONCE) {
      const group = moments.slice(first, first + AT_ONCE)
      const outcomes = await Promise.all(group.map(async (at) => await startAway(at, 1000)))
      outcomes.forEach((outcome, index) => t.type(outcome, 'number', `${group[index]}: ${outcome}`))
    }
  })

  t.test(`${name} may take half a second for every reply during the start`, DEADLINE, async (t) => {
    if (!isThere(t)) return
    const faulty = await openFaultyConnection(t, (await start(t)).port)
    faulty.delay(500)
    const app = await buildApp(t, {}, { stateUrl: toUrl(faulty.port), secrets: ['s'.repeat(32)] })
    await until(async () => (await app.inject('/readyz')).statusCode === 200, 'the store', 20_000)
    t.pass('it has started')
  })
}

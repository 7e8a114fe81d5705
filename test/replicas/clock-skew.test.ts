// Two services with one Redis. The clock of one service is wrong by 20 seconds.

import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { startService, type Service } from '../helpers/service.ts'
import type { Message } from '../helpers/request.ts'
import { openSession, type SessionClient } from '../helpers/session.ts'
import { FILES, follow, touch, urisOf } from '../edges/legacy/http/session-stream-catalog.ts'

const CLOCK = new URL('../helpers/clock-skew.mjs', import.meta.url)
const SKEW_MS = 20_000
const ROUNDS = 5
/** How long a service may need to find Redis again. */
const SLOW_MS = 15_000

/** The times of the service's log lines, by the clock of the service. */
function loggedTimes ({ stdout }: Service): number[] {
  return stdout().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).time)
}

async function isReady ({ url }: Service): Promise<boolean> {
  return (await fetch(new URL('/readyz', url))).status === 200
}

/** The newer stream is served by `there`. */
async function checkNewerWins (
  t: Test, here: SessionClient, there: SessionClient, uri: string
): Promise<void> {
  // Of its own for each round: a change of the round before may reach the older stream late.
  await follow(here, uri)
  const older = await here.get()
  const newer = await there.get()
  t.equal(newer.status, 200)
  await older.ended()
  for (const session of [here, there]) {
    await touch(session, uri)
    t.equal((await newer.next()).params.uri, uri)
  }
  t.notOk(newer.hasEnded)
  t.notOk(urisOf(older).includes(uri))
}

if (hasRedisServer(t)) {
  const redis = await startRedisServer(t)
  const environment = {
    TRIVET_CATALOG: await writeCatalog(t, FILES),
    TRIVET_LOG_LEVEL: 'info',
    TRIVET_SECRETS: 'the secret that both replicas have',
    TRIVET_STATE_URL: redis.url,
    TRIVET_WATCH: 'off'
  }
  const skewed = {
    ...environment, NODE_OPTIONS: `--import ${fileURLToPath(CLOCK)}`, CLOCK_SKEW_MS: String(SKEW_MS)
  }
  const [exact, ahead] = await Promise.all([startService(t, environment), startService(t, skewed)])

  for (const [name, from, to] of [['behind', ahead, exact], ['ahead', exact, ahead]] as const) {
    t.test(`a client that reconnects to the replica that is ${name}`, { timeout: 60_000 }, async (t) => {
      const here = await openSession(t, from.url)
      const there = here.with({ url: to.url })
      await follow(here, 'test:a')

      t.test('gets the stream at the first try (328)', async (t) => {
        for (let round = 0; round < ROUNDS; round++) await checkNewerWins(t, here, there, `test:${round}`)
      })

      t.test('is told of the changes while it was away (347)', async (t) => {
        const older = await here.get()
        await until(() => older.lastEventId !== '', 'the first event')
        older.close()
        await touch(here, 'test:a')
        const newer = await there.get({ 'last-event-id': older.lastEventId })
        // What was missed before comes first.
        const isNews = ({ params }: Message) => params?.uri === 'test:a'
        while (!isNews(await newer.next()));
        t.pass('the change has come')
        newer.close()
      })

      t.test('gets the stream from a replica that opened one without Redis', async (t) => {
        // Afterwards the replica has the settings of the session in memory.
        await here.get()
        redis.freeze()
        t.teardown(() => redis.thaw())
        const older = await here.get()
        t.equal(older.status, 200)
        redis.thaw()
        await until(async () => await isReady(from) && await isReady(to), 'both replicas', SLOW_MS)
        await checkTakenOver(t, there)
        await older.ended()
      })
    })
  }

  t.test('the clocks differ', async (t) => {
    const apart = Math.max(...loggedTimes(ahead)) - Math.max(...loggedTimes(exact))
    t.ok(apart > SKEW_MS / 2, `by ${apart} ms in the logs`)
  })
}

async function checkTakenOver (t: Test, there: SessionClient): Promise<void> {
  const newer = await there.get()
  await touch(there, 'test:a')
  t.equal((await newer.next()).params.uri, 'test:a')
  // A message of the other replica would end the newer stream.
  for (let count = 0; count < 5; count++) await touch(there, 'test:a')
  t.notOk(newer.hasEnded)
}

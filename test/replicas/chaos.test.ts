// Replicas are killed one after the other, and Redis halfway, while clients add to baskets and listen for
// their changes. Each acknowledged write is there exactly once. CHAOS_SECONDS is the duration; `npm run
// chaos` prints the figures of a minute.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import { startReplicas, type Replica, type Replicas } from '../helpers/replicas.ts'
import { Listener } from './listener.ts'
import { ShopClient } from './shop-client.ts'
import { createRandom, Shopping } from './shopping.ts'

const SECONDS = Number(process.env.CHAOS_SECONDS ?? 12)
const CLIENTS = 32
const BASKETS = 20
const LISTENERS = 6
/** At the latest: the next kill waits until the replica before serves again. */
const KILL_EVERY_MS = 1000
/** About the time in which a container restarts. */
const REDIS_AWAY_MS = 1000
/** Long for a quiet machine, enough for a busy one. */
const SLOW_MS = 30_000

const ms = (value: number | undefined) => value === undefined ? 'never' : `${Math.round(value)} ms`

if (hasRedisServer(t) && hasNginx(t)) {
  t.setTimeout((SECONDS + 120) * 1000)

  t.test('what was acknowledged is there exactly once, and whoever listens hears of changes again, ' +
    'whatever was killed', { timeout: (SECONDS + 100) * 1000 }, async (t) => {
    const topology = await startReplicas(t)
    const client = new ShopClient(topology.url)
    t.teardown(() => client.close())
    const baskets: string[] = []
    while (baskets.length < BASKETS) baskets.push((await client.insist('create_basket')).basketId)
    const { basketId: bell } = await client.insist('create_basket')
    const shopping = new Shopping(client, baskets)
    const listeners = baskets.slice(0, LISTENERS).map(
      (basket) => new Listener(t, topology.url, [`basket://${basket}`, `basket://${bell}`])
    )

    const over = new AbortController()
    const clients = Promise.all(
      Array.from(
        { length: CLIENTS },
        async (_, seed) => await shopping.shop(String(seed), createRandom(seed), over.signal)
      )
    )
    // Without a handler, a rejection would be unhandled until the end.
    clients.catch(() => over.abort())
    const { kills, recovery } = await wreak(
      topology, shopping, async (replica) => await ring(replica, bell, listeners), over.signal
    )
    over.abort()
    await within(clients, 'the last acknowledgements', 2 * SLOW_MS)

    for (const [index, { url }] of topology.replicas.entries()) {
      const view = new ShopClient(url)
      for (const [basket, expected] of shopping.acknowledged) {
        t.strictSame(await read(view, basket), expected, `a basket, seen by replica ${index + 1}`)
      }
      view.close()
    }
    for (const replica of topology.replicas) await ring(replica, bell, listeners)
    for (const { reconnects } of listeners) t.ok(reconnects > 0, 'each stream was cut, and opened again')
    t.ok(shopping.count > CLIENTS, 'each client has added something')
    report(t, { client, shopping, kills, recovery, listeners })
  })
}

/**
 * Kills the replicas in turn until the time is over, each at least once, and Redis halfway. Calls `check`
 * after each kill.
 */
async function wreak (
  { replicas, redis }: Replicas, shopping: Shopping, check: (replica: Replica) => Promise<void>,
  signal: AbortSignal
) {
  const begun = performance.now()
  const elapsed = () => performance.now() - begun
  let kills = 0
  let recovery: Recovery | undefined
  while (
    !signal.aborted && (elapsed() < SECONDS * 1000 || kills < replicas.length || recovery === undefined)
  ) {
    const beat = pause(KILL_EVERY_MS)
    const replica = replicas[kills++ % replicas.length]
    if (replica === undefined) throw new TypeError('unreachable')
    await replica.kill('SIGKILL')
    await replica.restart()
    await check(replica)
    if (recovery === undefined && elapsed() > SECONDS * 500) recovery = await killRedis(redis, shopping)
    await beat
  }
  return { kills, recovery }
}

interface Recovery { readonly awayMs: number, readonly sinceKillMs: number, readonly sinceReadyMs: number }

async function killRedis (redis: Replicas['redis'], shopping: Shopping): Promise<Recovery> {
  const killed = performance.now()
  await redis.kill()
  const refused = () => shopping.client.retries.get('state unavailable') ?? 0
  const before = refused()
  await pause(REDIS_AWAY_MS)
  await until(() => refused() > before, 'a client to notice that Redis is away', SLOW_MS)
  await redis.restart()
  const [ready, count] = [performance.now(), shopping.count]
  await until(() => shopping.count > count, 'an acknowledgement after the end of Redis', SLOW_MS)
  const now = performance.now()
  return { awayMs: ready - killed, sinceKillMs: now - killed, sinceReadyMs: now - ready }
}

/** Makes a change on this replica. Each listener must be connected and receive it. */
async function ring (replica: Replica, bell: string, listeners: readonly Listener[]): Promise<void> {
  await until(() => listeners.every(({ isListening }) => isListening), 'the streams', SLOW_MS)
  const uri = `basket://${bell}`
  const heard = listeners.map((listener) => listener.heard(uri))
  const client = new ShopClient(replica.url)
  await client.insist('add_to_basket', { basketId: bell, bookId: 'moby-dick' })
  client.close()
  await until(
    () => listeners.every((listener, index) => listener.heard(uri) > (heard[index] ?? 0)),
    'news on each stream', SLOW_MS
  )
}

async function read (client: ShopClient, basketId: string): Promise<Map<string, number>> {
  const { lines } = await client.insist('view_basket', { basketId })
  return new Map(
    lines.map(({ bookId, quantity }: { bookId: string, quantity: number }) => [bookId, quantity])
  )
}

interface Figures {
  readonly client: ShopClient
  readonly shopping: Shopping
  readonly kills: number
  readonly recovery: Recovery | undefined
  readonly listeners: readonly Listener[]
}

function report (t: Test, { client, shopping, kills, recovery, listeners }: Figures): void {
  const durations = client.durations.toSorted((a, b) => a - b)
  const sum = (count: (listener: Listener) => number) => listeners.reduce(
    (total, listener) => total + count(listener), 0
  )
  const retries = [...client.retries].map(([cause, count]) => `${count} after ${cause}`).join(', ')
  t.comment(`${CLIENTS} clients, ${BASKETS} baskets, ${SECONDS} s: ${kills} kills of a replica, 1 of Redis`)
  t.comment(
    `${shopping.count} additions acknowledged, by ${durations.length} requests; sent again: ${retries}`
  )
  t.comment(
    `requests: p50 ${ms(durations[durations.length >> 1])}, ` +
      `p99 ${ms(durations[Math.floor(durations.length * 0.99)])}, longest ${ms(durations.at(-1))}; ` +
      `longest until acknowledged ${ms(shopping.longestMs)}`
  )
  t.comment(
    `Redis: away for ${ms(recovery?.awayMs)}; the first addition ` +
      `${ms(recovery?.sinceReadyMs)} after it was back, ${ms(recovery?.sinceKillMs)} after its end`
  )
  t.comment(
    `${listeners.length} listeners: ${sum(({ reconnects }) => reconnects)} reconnects, ` +
      `${sum((listener) => listener.heard())} notifications`
  )
}

// Replicas are restarted and killed behind HAProxy, which checks their health.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { within } from '../helpers/deadline.ts'
import { hasHaproxy } from '../servers/haproxy.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import { startReplicas, type Replica } from '../helpers/replicas.ts'
import { PAUSE_MS, ShopClient } from './shop-client.ts'

const CLIENTS = 16
const SLOW_MS = 30_000
/**
 * How a call fails whose replica is killed. HAProxy closes the connection without an answer if the client has
 * used it before.
 */
const CUT_OFF = ['HTTP 502', 'connection: ECONNRESET']

interface Failure { readonly begunAt: number, readonly cause: string }

interface Load {
  readonly done: () => number
  readonly failures: readonly Failure[]
  /** Ends the load. Resolves when the last call has been answered. */
  stop (): Promise<void>
}

/** Clients that make one call after the other. */
function startLoad (t: Test, url: string): Load {
  const client = new ShopClient(url)
  t.teardown(() => client.close())
  const over = new AbortController()
  const failures: Failure[] = []
  let done = 0
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!over.signal.aborted) {
      const begunAt = performance.now()
      const outcome = await client.call('search_books', { query: 'whale' })
      if (outcome.kind === 'done') done++
      else failures.push({ begunAt, cause: outcome.cause })
      await pause(PAUSE_MS)
    }
  })
  return {
    done: () => done,
    failures,
    async stop () {
      over.abort()
      await within(Promise.all(clients), 'the last answers', SLOW_MS)
    }
  }
}

/** Resolves to the time when the process had ended. */
async function kill (replica: Replica): Promise<number> {
  await replica.kill()
  const endedAt = performance.now()
  await replica.restart()
  return endedAt
}

if (hasRedisServer(t) && hasHaproxy(t)) {
  t.test('three replicas behind HAProxy', { timeout: 180_000 }, async (t) => {
    // Time for two checks and their answers.
    const environment = { TRIVET_DRAIN_MS: '3000' }
    const { url, replicas } = await startReplicas(t, { proxy: 'haproxy', environment })

    t.test('each replica is stopped and started, and no call fails', async (t) => {
      const load = startLoad(t, url)
      for (const replica of replicas) {
        t.equal(await within(replica.stop(), 'the exit', SLOW_MS), 0)
        await replica.restart()
      }
      await load.stop()
      t.strictSame(load.failures, [])
      t.ok(load.done() > CLIENTS, `${load.done()} calls`)
    })

    t.test('each replica is killed, and only the calls that were under way fail', async (t) => {
      const load = startLoad(t, url)
      for (const [index, replica] of [...replicas, ...replicas].entries()) {
        const [before, begun] = [load.failures.length, load.done()]
        const endedAt = await kill(replica)
        const failures = load.failures.slice(before)
        t.comment(`kill ${index + 1}: ${failures.length} failed, ${load.done() - begun} done meanwhile`)
        t.strictSame(failures.filter(({ begunAt }) => begunAt > endedAt), [], 'no call fails afterwards')
        t.strictSame(failures.filter(({ cause }) => !CUT_OFF.includes(cause)), [], 'and none is refused')
        t.ok(load.done() > begun, 'and others are done meanwhile')
      }
      await load.stop()
    })
  })
}

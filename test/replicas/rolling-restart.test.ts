// A deployment: one replica after the other goes down and comes back, behind a load balancer, and no client
// notices.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until, within } from '../helpers/deadline.ts'
import { hasNginx } from '../servers/nginx.ts'
import { hasRedisServer } from '../servers/redis-server.ts'
import { startReplicas, type Replica } from '../helpers/replicas.ts'
import { openStream, post } from '../helpers/stream.ts'
import { Listener } from './listener.ts'
import { PAUSE_MS, ShopClient, type Outcome } from './shop-client.ts'

const CLIENTS = 32
const BOOK = 'moby-dick'
const SLOW_MS = 30_000

if (hasRedisServer(t) && hasNginx(t)) {
  t.test('three replicas behind nginx', async (t) => {
    // With a log of each request: it shows who has served.
    const { url, replicas } = await startReplicas(t, { environment: { TRIVET_LOG_LEVEL: 'info' } })

    t.test('requests go to all replicas in turn', async (t) => {
      const served = ({ stdout }: Replica) => stdout().split('"method":"server/discover"').length - 1
      for (let i = 0; i < 30; i++) t.equal((await post(t, url, { method: 'server/discover' })).status, 200)
      await until(() => replicas.map(served).reduce((sum, count) => sum + count) === 30, 'a line for each')
      t.strictSame(replicas.map(served), [10, 10, 10])
    })

    t.test('events of a stream are passed on when they happen', async (t) => {
      const stream = await openStream(t, url, {
        method: 'tools/call',
        params: { name: 'build_reading_list', arguments: { topic: 'science fiction', count: 4 } },
        meta: { progressToken: 'list' }
      })
      for (let step = 1; step < 4; step++) {
        t.match(await stream.next(), {
          method: 'notifications/progress', params: { progressToken: 'list', progress: step }
        })
        t.equal(stream.messages.length, step, 'and what follows comes later')
      }
      // The result follows at once.
      t.match(await stream.next(), { method: 'notifications/progress', params: { progress: 4 } })
      t.match(await stream.next(), { result: { structuredContent: { list: [{}, {}, {}, {}] } } })
    })

    t.test('a replica goes down at the moment when the others are back, and no request fails', async (t) => {
      const client = new ShopClient(url)
      t.teardown(() => client.close())
      const over = new AbortController()
      const outcomes = new Map<string, number>()
      const asking = (async () => {
        while (!over.signal.aborted) {
          count(outcomes, await client.call('search_books', { query: 'whale' }))
          await pause(PAUSE_MS)
        }
      })()
      const [last, ...others] = replicas
      // To nginx these have just failed.
      await Promise.all(others.map(async (replica) => {
        await replica.stop()
        await replica.restart()
      }))
      await last?.stop()
      await last?.restart()
      over.abort()
      await within(asking, 'the last answer', SLOW_MS)
      t.strictSame([...outcomes.keys()], ['done'])
    })

    t.test('each replica is restarted, and no request fails, no addition is lost or doubled, and streams ' +
      'are opened again', async (t) => {
      const client = new ShopClient(url)
      t.teardown(() => client.close())
      const { basketId } = await client.insist('create_basket')
      const basket = `basket://${basketId}`
      const listeners = replicas.map(() => new Listener(t, url, [basket]))
      await until(() => listeners.every(({ isListening }) => isListening), 'the streams')

      const over = new AbortController()
      const added = new Map<string, number>()
      const viewed = new Map<string, number>()
      const clients = Array.from({ length: CLIENTS }, async (_, index) => {
        const adds = index % 8 === 0
        while (!over.signal.aborted) {
          if (adds) count(added, await client.call('add_to_basket', { basketId, bookId: BOOK }))
          else count(viewed, await client.call('view_basket', { basketId }))
          await pause(PAUSE_MS)
        }
      })

      for (const replica of replicas) {
        t.equal(await within(replica.stop(), 'the exit', SLOW_MS), 0, 'it ends with 0')
        await replica.restart()
        await until(() => listeners.every(({ isListening }) => isListening), 'the streams', SLOW_MS)
        const heard = listeners.map((listener) => listener.heard())
        await until(
          () => listeners.every((listener, index) => listener.heard() > (heard[index] ?? 0)),
          'news on each stream', SLOW_MS
        )
      }
      over.abort()
      await within(Promise.all(clients), 'the last answers', SLOW_MS)

      t.strictSame([...added.keys(), ...viewed.keys()], ['done', 'done'])
      t.match(await client.insist('view_basket', { basketId }), {
        lines: [{ bookId: BOOK, quantity: added.get('done') }]
      })
      t.ok(listeners.every(({ reconnects }) => reconnects > 0), 'each stream was on a replica that went down')
      t.strictSame([...new Set(listeners.flatMap(({ endings }) => endings))], ['result'])
      t.comment(
        `${added.get('done')} additions and ${viewed.get('done')} views; ` +
          `${listeners.flatMap(({ endings }) => endings).length} streams ended and were opened again`
      )
    })
  })
}

/** By how each request ended. */
function count (outcomes: Map<string, number>, outcome: Outcome): void {
  const key = outcome.kind === 'done' ? 'done' : outcome.cause
  outcomes.set(key, (outcomes.get(key) ?? 0) + 1)
}

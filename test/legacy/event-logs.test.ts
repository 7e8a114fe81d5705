// What was sent on streams, in each of its logs: the same claims hold for all.

import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { until } from '../helpers/deadline.ts'
import { hasRedisServer, startRedisServer } from '../helpers/redis-server.ts'
import type { EventBus } from '../../src/events/event-bus.ts'
import type { EventLog, EventLogLimits } from '../../src/legacy/event-log.ts'
import { createMemoryEventBus } from '../../src/events/memory-event-bus.ts'
import { createMemoryEventLog } from '../../src/legacy/memory-event-log.ts'
import { createRecentChanges } from '../../src/legacy/recent-changes.ts'
import { createRecent } from '../../src/legacy/recent.ts'
import { createRedisEventLog } from '../../src/legacy/redis-event-log.ts'

const LIMITS: EventLogLimits = { maxEvents: 5, ttlMs: 60_000 }
const TEXTS = ['{"a":"Grüße 👋"}', '', '{"b":"\\n"}', '.', '['.repeat(10_000)]

const logs: ReadonlyArray<readonly [name: string, open: (t: Test) => Promise<((limits: EventLogLimits) => EventLog) | undefined>]> = [
  ['memory', async () => createMemoryEventLog],
  ['Redis', async (t) => {
    if (!hasRedisServer(t)) return undefined
    const client = new Redis((await startRedisServer(t)).url)
    t.teardown(async () => await client.quit())
    return (limits) => createRedisEventLog(client, limits)
  }]
]

for (const [name, prepare] of logs) {
  t.test(`the log in ${name}`, async (t) => {
    const create = await prepare(t)
    if (create === undefined) return
    const open = (limits: Partial<EventLogLimits> = {}) => {
      const log = create({ ...LIMITS, ...limits })
      t.teardown(() => log.close())
      return log
    }
    const write = async (log: EventLog, stream: string, texts: readonly string[], from = 1) => await Promise.all(texts.map(async (text, index) => await log.append(stream, { position: from + index, text })))

    t.test('gives what was written, in order, after any position (347)', async (t) => {
      const log = open()
      await write(log, 'session.one', TEXTS)
      const all = TEXTS.map((text, index) => ({ position: index + 1, text }))
      for (const after of [0, 1, 4]) t.strictSame(await log.read('session.one', after), all.slice(after))
      t.strictSame(await log.read('session.one', 5), [], 'nothing came after it')
      t.strictSame(await log.read('session.one', 999_999_999), [])
    })

    t.test('knows nothing of other streams (347)', async (t) => {
      const log = open()
      await write(log, 'session.a', ['x'])
      for (const stream of ['session.b', 'session', 'other.a', '', '*', 'session.*']) t.equal(await log.read(stream, 0), undefined, stream)
    })

    t.test('keeps the last of a stream that is too long', async (t) => {
      const log = open()
      await write(log, 'session.long', Array.from({ length: 20 }, (_, index) => String(index + 1)))
      t.strictSame((await log.read('session.long', 0))?.map(({ text }) => text), ['16', '17', '18', '19', '20'])
    })

    t.test('forgets a stream that nobody writes to any more', async (t) => {
      const log = open({ ttlMs: 100 })
      await write(log, 'session.brief', ['x'])
      t.equal((await log.read('session.brief', 0))?.length, 1)
      await until(async () => await log.read('session.brief', 0) === undefined, 'it to be forgotten')
    })

    t.test('does not forget one that is still being written to', async (t) => {
      const log = open({ ttlMs: 300 })
      for (let position = 1; position <= 5; position++) {
        await log.append('session.lasting', { position, text: 'x' })
        await pause(100)
      }
      t.equal((await log.read('session.lasting', 0))?.length, 5)
    })
  })
}

t.test('the log in memory forgets what is oldest once all streams together are too large', async (t) => {
  const log = createMemoryEventLog({ ...LIMITS, maxBytes: 1000 })
  t.teardown(() => log.close())
  for (let stream = 0; stream < 100; stream++) await log.append(`s.${stream}`, { position: 1, text: 'x'.repeat(300) })
  const kept = await Promise.all(Array.from({ length: 100 }, async (_, stream) => await log.read(`s.${stream}`, 0)))
  t.strictSame(kept.flatMap((events, stream) => events === undefined ? [] : [stream]), [97, 98, 99])
  for (let position = 1; position <= 50; position++) await log.append('s.turning', { position, text: 'y'.repeat(150) })
  t.strictSame((await log.read('s.turning', 0))?.map(({ position }) => position), [46, 47, 48, 49, 50], 'and counts what was cut off a stream no more')
  t.ok(await log.read('s.99', 0) === undefined)
})

t.test('recent changes', async (t) => {
  let now = 1_000_000
  const bus: EventBus = createMemoryEventBus()
  const changes = createRecentChanges(bus, () => now)
  t.teardown(() => changes.close())
  const publish = async (uri: string) => await bus.publish({ type: 'resource-updated', uri })

  t.test('of what was before the service began, anything may have changed', async (t) => {
    t.strictSame(changes.since(now - 1), [{ type: 'events-missed' }])
    t.strictSame(changes.since(0), [{ type: 'events-missed' }])
  })

  t.test('are told from a little before the client says, since clocks differ', async (t) => {
    now += 60_000
    await publish('test:a')
    now += 60_000
    await publish('test:b')
    await new Promise(setImmediate)
    t.strictSame(changes.since(now), [{ type: 'resource-updated', uri: 'test:b' }])
    t.strictSame(changes.since(now - 60_000), ['test:a', 'test:b'].map((uri) => ({ type: 'resource-updated', uri })))
    t.strictSame(changes.since(now + 10_000), [])
  })

  t.test('past a thousand nothing is pretended', async (t) => {
    now += 60_000
    for (let count = 0; count < 1001; count++) {
      now++
      await publish(`test:${count}`)
    }
    await new Promise(setImmediate)
    t.strictSame(changes.since(now - 10_000), [{ type: 'events-missed' }])
    t.equal(changes.since(now + 4999).length, 2)
  })
})

t.test('what was used lately is kept, and the rest is let go of without being asked for', async (t) => {
  const recent = createRecent<number, string>({ max: 10, idleMs: 100 })
  t.teardown(() => recent.close())
  let most = 0
  let kept = true
  for (let key = 0; key < 10_000; key++) {
    recent.set(key, String(key))
    kept &&= recent.get(0) === '0'
    most = Math.max(most, recent.size)
  }
  t.ok(kept, 'what is asked for again and again stays')
  t.ok(most <= 20, `${most} at most`)
  t.equal(recent.get(9999), '9999')
  recent.delete(9999)
  t.equal(recent.get(9999), undefined)
  await until(() => recent.size === 0, 'the rest to be let go of')
})

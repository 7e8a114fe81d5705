// The event log of each backend: the same claims hold for all.

import { Redis } from 'ioredis'
import t from 'tap'
import { createMemoryEventLog } from '../../src/legacy/memory-event-log.ts'
import { createRedisEventLog } from '../../src/legacy/redis-event-log.ts'
import { checkEventLog } from '../contracts/event-log-contract.ts'
import { hasRedisServer, startRedisServer } from '../helpers/redis-server.ts'

t.test('the log in memory', async (t) => checkEventLog(t, async (limits) => createMemoryEventLog(limits)))

t.test('the log in Redis', async (t) => {
  if (!hasRedisServer(t)) return
  const client = new Redis((await startRedisServer(t)).url)
  t.teardown(async () => await client.quit())
  checkEventLog(t, async (limits) => createRedisEventLog(client, limits))
})

t.test('the log in memory forgets what is oldest once all streams together are too large', async (t) => {
  const log = createMemoryEventLog({ maxEvents: 5, ttlMs: 60_000, maxBytes: 1000 })
  t.teardown(async () => await log.close())
  for (let stream = 0; stream < 100; stream++) await log.append(`s.${stream}`, { position: 1, text: 'x'.repeat(300) })
  const kept = await Promise.all(Array.from({ length: 100 }, async (_, stream) => await log.read(`s.${stream}`, 0)))
  t.strictSame(kept.flatMap((events, stream) => events === undefined ? [] : [stream]), [97, 98, 99])
  for (let position = 1; position <= 50; position++) await log.append('s.turning', { position, text: 'y'.repeat(150) })
  t.strictSame((await log.read('s.turning', 0))?.map(({ position }) => position), [46, 47, 48, 49, 50], 'and counts what was cut off a stream no more')
  t.ok(await log.read('s.99', 0) === undefined)
})

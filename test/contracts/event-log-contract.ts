// The contract of every event log. A new backend is done when its log passes.

import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { EventLog, EventLogLimits } from '../../src/platform/store/changes/event-log.ts'
import { until } from '../helpers/deadline.ts'

const LIMITS: EventLogLimits = { maxEvents: 5, ttlMs: 60_000 }
const TEXTS = ['{"a":"Grüße 👋"}', '', '{"b":"\\n"}', '.', '['.repeat(10_000)]

/** @param create creates a new log for each test. Logs of one backend may share their events. */
export function checkEventLog (t: Test, create: (limits: EventLogLimits) => Promise<EventLog>): void {
  async function open (t: Test, limits: Partial<EventLogLimits> = {}): Promise<EventLog> {
    const log = await create({ ...LIMITS, ...limits })
    t.teardown(async () => await log.close())
    return log
  }

  async function write (log: EventLog, stream: string, texts: readonly string[]): Promise<void> {
    const events = texts.map((text, index) => ({ position: index + 1, text }))
    await Promise.all(events.map(async (event) => await log.append(stream, event)))
  }

  t.test('returns the events after any position, in order (347)', async (t) => {
    const log = await open(t)
    await write(log, 'session.one', TEXTS)
    const all = TEXTS.map((text, index) => ({ position: index + 1, text }))
    for (const after of [0, 1, 4]) t.strictSame(await log.read('session.one', after), all.slice(after))
    t.strictSame(await log.read('session.one', 5), [], 'nothing came after it')
    t.strictSame(await log.read('session.one', 999_999_999), [])
  })

  t.test('returns no events of other streams (347)', async (t) => {
    const log = await open(t)
    await write(log, 'session.a', ['x'])
    for (const stream of ['session.b', 'session', 'other.a', '', '*', 'session.*']) {
      t.equal(await log.read(stream, 0), undefined, stream)
    }
  })

  t.test('drops the first events of a stream that is too long', async (t) => {
    const log = await open(t)
    await write(log, 'session.long', Array.from({ length: 20 }, (_, index) => String(index + 1)))
    const kept = await log.read('session.long', 0)
    t.strictSame(kept?.map(({ text }) => text), ['16', '17', '18', '19', '20'])
  })

  t.test('drops a stream that gets no more events', async (t) => {
    const log = await open(t, { ttlMs: 100 })
    await write(log, 'session.brief', ['x'])
    t.equal((await log.read('session.brief', 0))?.length, 1)
    await until(async () => await log.read('session.brief', 0) === undefined, 'it to be forgotten')
  })

  t.test('keeps a stream that still gets events', async (t) => {
    const log = await open(t, { ttlMs: 300 })
    for (let position = 1; position <= 5; position++) {
      await log.append('session.lasting', { position, text: 'x' })
      await pause(100)
    }
    t.equal((await log.read('session.lasting', 0))?.length, 5)
  })

  t.test('closing is idempotent', async (t) => {
    const log = await open(t)
    await log.close()
    await t.resolves(log.close())
  })
}

// What every event log must do, wherever it keeps the events. A new one is done when this passes.

import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { EventLog, EventLogLimits } from '../../src/events/event-log.ts'
import { until } from '../helpers/deadline.ts'

const LIMITS: EventLogLimits = { maxEvents: 5, ttlMs: 60_000 }
const TEXTS = ['{"a":"Grüße 👋"}', '', '{"b":"\\n"}', '.', '['.repeat(10_000)]

/** @param create makes a log of its own for each claim; those of one backend may share what they keep. */
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

  t.test('gives what was written, in order, after any position (347)', async (t) => {
    const log = await open(t)
    await write(log, 'session.one', TEXTS)
    const all = TEXTS.map((text, index) => ({ position: index + 1, text }))
    for (const after of [0, 1, 4]) t.strictSame(await log.read('session.one', after), all.slice(after))
    t.strictSame(await log.read('session.one', 5), [], 'nothing came after it')
    t.strictSame(await log.read('session.one', 999_999_999), [])
  })

  t.test('knows nothing of other streams (347)', async (t) => {
    const log = await open(t)
    await write(log, 'session.a', ['x'])
    for (const stream of ['session.b', 'session', 'other.a', '', '*', 'session.*']) {
      t.equal(await log.read(stream, 0), undefined, stream)
    }
  })

  t.test('keeps the last events of a stream that is too long', async (t) => {
    const log = await open(t)
    await write(log, 'session.long', Array.from({ length: 20 }, (_, index) => String(index + 1)))
    const kept = await log.read('session.long', 0)
    t.strictSame(kept?.map(({ text }) => text), ['16', '17', '18', '19', '20'])
  })

  t.test('forgets a stream that nobody writes to any more', async (t) => {
    const log = await open(t, { ttlMs: 100 })
    await write(log, 'session.brief', ['x'])
    t.equal((await log.read('session.brief', 0))?.length, 1)
    await until(async () => await log.read('session.brief', 0) === undefined, 'it to be forgotten')
  })

  t.test('does not forget a stream that is still being written to', async (t) => {
    const log = await open(t, { ttlMs: 300 })
    for (let position = 1; position <= 5; position++) {
      await log.append('session.lasting', { position, text: 'x' })
      await pause(100)
    }
    t.equal((await log.read('session.lasting', 0))?.length, 5)
  })

  t.test('closing twice is once', async (t) => {
    const log = await open(t)
    await log.close()
    await t.resolves(log.close())
  })
}

// The length of a sleep, by clocks with fractions of milliseconds.

import t from 'tap'
import { TaskJournal } from '../../../src/features/tasks/journal/journal.ts'

/** The shortest sleep that suspends a handler. */
const LENGTH_MS = 1000

t.test('a sleep has its length at every moment of a clock', async (t) => {
  const moments = Array.from({ length: 1000 }, (_, index) => index / 7)
  t.ok(moments.some((now) => now + LENGTH_MS - now < LENGTH_MS), 'sums lose a part')
  const waited: number[] = []
  for (const now of moments) {
    const journal = new TaskJournal(1e6, () => now)
    await journal.sleep(LENGTH_MS, undefined, async (ms) => { waited.push(ms) }).catch(() => {})
    t.ok(journal.isSuspended)
  }
  t.strictSame(waited, [])
})

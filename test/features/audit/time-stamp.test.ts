// The time of a line of the audit log.

import t from 'tap'
import { createTimeStamp } from '../../../src/features/audit/audit-log.ts'

t.test('is that of toISOString, also when the clock is set back', async (t) => {
  const timeStamp = createTimeStamp()
  const start = Date.UTC(2026, 11, 31, 23, 59, 59, 0)
  for (const now of [start, start + 7, start + 42, start + 999, start + 1000, start + 61_123, start - 1, 0]) {
    t.equal(timeStamp(now), new Date(now).toISOString())
  }
})

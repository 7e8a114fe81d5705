// The lines of the log about overload.

import t from 'tap'
import { createShedReport } from '../../../src/features/overload/shed-report.ts'

const STATE = { loopDelayMs: 100, memoryPercent: 10, requests: 5, limit: 5 }

t.test('a line at the beginning, one every ten seconds, and one at the end', async (t) => {
  const lines: unknown[] = []
  let now = 0
  const log = {
    info: (fields: object, message: string) => lines.push([now, message, fields]),
    warn: (fields: object, message: string) => lines.push([now, message, fields])
  }
  const report = createShedReport(log, () => now)
  let refused = 0
  for (; now < 60_000; now += 100) {
    if (now >= 1000 && now < 13_000) refused += 2
    report({ ...STATE, refused })
  }
  const overloaded = 'overloaded: a share of the requests is refused'
  t.match(lines, [
    [1000, overloaded, { ...STATE, refused: 2 }],
    [11_000, overloaded, { refused: 200 }],
    [17_900, 'overload is over', { refused: 38 }]
  ])
  t.equal(lines.length, 3)
})

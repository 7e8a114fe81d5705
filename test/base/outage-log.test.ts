import t from 'tap'
import { createOutageLog } from '../../src/base/outage-log.ts'

t.test('an outage logs one line at once, and one more after each interval', async (t) => {
  const lines: object[] = []
  let time = 0
  const log = { warn: (fields: object, message: string) => lines.push({ ...fields, message }) }
  const tell = createOutageLog({ log, message: 'away', repeatMs: 1000, now: () => time })
  const err = new Error('refused')
  for (let attempt = 0; attempt < 21; attempt++, time += 100) tell(err)
  t.strictSame(lines, [1, 10, 10].map((errors) => ({ err, errors, message: 'away' })))
})

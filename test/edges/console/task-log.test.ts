// The log messages of tasks that the console keeps.

import t from 'tap'
import { TaskLog } from '../../../src/edges/console/task-log.ts'

const line = (data: unknown) => JSON.stringify({ params: { level: 'info', data } })

t.test('keeps the last messages of the last tasks', async (t) => {
  const log = new TaskLog()
  for (let task = 0; task < 30; task++) log.add(`t${task}`, line(task))
  t.strictSame(log.of('t9'), [])
  t.strictSame(log.of('t10'), [{ level: 'info', data: 10 }])
  for (let index = 0; index < 300; index++) log.add('t29', line(index))
  t.equal(log.of('t29').length, 200)
  t.match(log.of('t29').at(-1), { data: 299 })
  t.strictSame(log.of('unknown'), [])
})

t.test('says how long a message was that is too long', async (t) => {
  const log = new TaskLog()
  log.add('t', line('x'.repeat(1_000_000)))
  t.match(log.of('t'), [{ level: 'info', data: /^10000\d\d characters of JSON$/ }])
})

// What a storm takes for the end of a task that has lost its replica too often.

import t from 'tap'
import { taskExpired, taskPoisoned } from '../../src/platform/protocol/errors.ts'
import { findUnexplained } from './storm-losses.ts'

const POISONED = { status: 'failed', error: { message: taskPoisoned(5).message } }
/** The last of five runs begins after pauses of 0, 1, 5 and 20 seconds. */
const FAULTS = [1000, 2000, 3000, 4000, 5000, 8500, 28_500, 40_000]

t.test('five losses explain the end of a task, with the pauses between them', (t) => {
  const explains = (runsSince: number, endedAt: number, faults = FAULTS) => (
    findUnexplained([{ task: POISONED, runsSince, endedAt }], faults).length === 0
  )
  t.ok(explains(500, 30_000))
  t.notOk(explains(500, 28_000), 'the fifth one came after the end')
  t.notOk(explains(3500, 30_000), 'the first ones came before its run')
  t.notOk(explains(500, 30_000, FAULTS.filter((at) => at !== 28_500)), 'there were four')
  t.end()
})

t.test('no faults explain another failure', (t) => {
  const task = { status: 'failed', error: { message: taskExpired(1000).message } }
  const failures = [{ task, runsSince: 0, endedAt: 50_000 }, { task: {}, runsSince: 0, endedAt: 50_000 }]
  t.equal(findUnexplained(failures, FAULTS).length, 2)
  t.end()
})

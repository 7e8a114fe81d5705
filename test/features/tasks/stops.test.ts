// What a stop of the replica interrupts, has not ended.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { TaskJournal } from '../../../src/features/tasks/journal/journal.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { LEASE_MS, openWorld } from './replicas.ts'

t.test('a step that a stop interrupts has not failed: the next run does it again', async (t) => {
  const time = new VirtualTime(t)
  const attempts: string[] = []
  let interrupt = (_: Error): void => {}
  const world = openWorld(async (round, replica) => {
    await round.sleep(2000, undefined, timers.pause)
    return await round.once('order', async () => {
      if (attempts.push(replica) > 1) return `ordered by ${replica}`
      return await new Promise<string>((_resolve, reject) => { interrupt = reject })
    })
    // A run whose work may be undone waits for its steps before its end is written.
  }, { undo: async () => 'undone' })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 1000)
  await time.during(timers.pause(3000), 10_000)
  t.strictSame(attempts, ['first'])
  const other = world.openReplica('other')
  first.tasks.stopTaking()
  first.stopRuns()
  interrupt(new DOMException('This operation was aborted', 'AbortError'))
  await time.during(timers.pause(LEASE_MS), 1e6)
  t.strictSame(attempts, ['first', 'other'])
  const task = await time.during(other.ask('tasks/get', { taskId }), 1000)
  t.match(task, { status: 'completed', result: 'ordered by other' })
})

t.test('a journal keeps the failure of a step, unless its run was stopped', async (t) => {
  for (const isStopped of [false, true]) {
    const journal = new TaskJournal(1000, () => 0, { isStopped })
    await t.rejects(journal.runStep('order', async () => { throw new Error('no') }), /no/)
    t.strictSame(Object.keys(journal.members.results), isStopped ? [] : ['order'])
  }
})

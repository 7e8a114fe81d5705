// A call that is repeated under its key, and whose first replica was lost before there was a record.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { ADA, LEASE_MS, openWorld } from './replicas.ts'

/** How long an operation of the store takes, and how late the repetition comes at most. In milliseconds. */
const [SLOW_MS, LATEST_MS] = [3, 30]

t.test('a task goes on whose call comes again while a replica looks for its record', async (t) => {
  for (let afterMs = 0; afterMs < LATEST_MS; afterMs++) {
    const time = new VirtualTime(t)
    const world = openWorld(async (round, replica) => {
      await round.once('first', () => 1)
      await timers.pause(2000)
      return replica
    }, { isRequired: true })
    const first = world.openReplica('first', { slowMs: SLOW_MS })
    first.call(ADA, undefined, 'key').catch(() => {})
    const findDue = async () => (await world.dueTimes.peek(1, LEASE_MS)).at(0)
    while (await findDue() === undefined) await time.during(timers.pause(1), 10)
    first.kill()
    const other = world.openReplica('other', { slowMs: SLOW_MS })
    const dueInMs = (await findDue())?.inMs ?? 0
    await time.during(timers.pause(dueInMs), LEASE_MS)
    t.ok((await findDue())?.inMs === 0)
    other.tasks.look()
    await time.during(timers.pause(afterMs), LATEST_MS)
    const second = world.openReplica('second', { slowMs: SLOW_MS })
    const taskId = await time.during(second.call(ADA, undefined, 'key'), 1000)
    second.kill()
    await time.during(timers.pause(3 * LEASE_MS), 1e6)
    const task = await time.during(other.ask('tasks/get', { taskId }), 1000)
    t.match(task, { status: 'completed', result: 'other' }, `after ${afterMs} ms`)
    other.kill()
  }
})

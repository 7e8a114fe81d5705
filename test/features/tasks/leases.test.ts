// What a replica does that was paused for about as long as its lease, or was slow to take a task.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import type { ToolRuns } from '../../../src/request/pipeline/seams.ts'
import type { TaskKey } from '../../../src/features/tasks/records/records.ts'
import { TaskRunner, type TaskRunnerDependencies } from '../../../src/features/tasks/runs/runner.ts'
import { Transitions, type TransitionDependencies } from '../../../src/features/tasks/machine/transitions.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { LEASE_MS, openWorld, question, type Script } from './replicas.ts'
/** Above a lease, and below two. */
const PAUSE_MS = 1.5 * LEASE_MS
const KEY: TaskKey = { id: 'task', state: { owner: 'tasks', name: 'task' }, entry: 'tasks/task' }

const sleepMinute: Script = async (round) => {
  await round.sleep(60_000, undefined, timers.pause)
  return 'not undone'
}

t.test('a handler that must not run again is called once the record says so', async (t) => {
  for (let at = 0, isOver = false; !isOver; at++) {
    const time = new VirtualTime(t)
    const calls: string[] = []
    const world = openWorld(async (round, replica) => {
      await round.sleep(2000, undefined, timers.pause)
      calls.push(replica)
      return await new Promise<never>(() => {})
    }, { mayRerun: false })
    const first = world.openReplica('first')
    const taskId = await time.during(first.call(), 10_000)
    await time.during(timers.pause(1000), 10_000)
    first.fail(at, 'killed-before')
    await time.during(timers.pause(LEASE_MS / 4), LEASE_MS)
    isOver = !first.isDead
    first.kill()
    const other = world.openReplica('other')
    await time.during(timers.pause(4 * LEASE_MS), 1e6)
    t.equal(calls.length, 1, `killed at ${at}`)
    const isFailed = calls[0] === 'first'
    const task = await time.during(other.ask('tasks/get', { taskId }), 1000)
    t.match(task, { status: isFailed ? 'failed' : 'working' })
    other.kill()
    t.ok(at < 30)
  }
})

t.test('a task ends whose replica was paused before its record, and is lost after it', async (t) => {
  for (let at = 0, isOver = false; !isOver; at++) {
    const time = new VirtualTime(t)
    const world = openWorld(async (_, replica) => {
      await timers.pause(2 * LEASE_MS)
      return replica
    }, { isRequired: true })
    const other = world.openReplica('other')
    const first = world.openReplica('first', { pauseMs: PAUSE_MS })
    await time.during(timers.pause(100), 1000)
    const begunAt = time.now
    first.fail(at, 'paused')
    const taskId = await time.during(first.call(), 1e6)
    isOver = time.now - begunAt < PAUSE_MS
    first.kill()
    await time.during(timers.pause(8 * LEASE_MS), 1e6)
    const task = await time.during(other.ask('tasks/get', { taskId }), 1000)
    t.match(task, { status: 'completed', result: 'other' }, `paused at ${at}`)
    other.kill()
    t.ok(at < 30)
  }
})

t.test('a replica that was paused after it took an undo leaves it to the one that runs it', async (t) => {
  const outcomes: string[] = []
  for (let at = 0; at < 12; at++) {
    const time = new VirtualTime(t)
    const undone: string[] = []
    const world = openWorld(sleepMinute, {
      async undo (round, replica) {
        await round.sleep(5000, undefined, timers.pause)
        undone.push(replica)
        await timers.pause(2 * LEASE_MS)
        return 'undone'
      }
    })
    const first = world.openReplica('first', { pauseMs: PAUSE_MS })
    const taskId = await time.during(first.call(), 10_000)
    await time.during(timers.pause(1000), 10_000)
    await time.during(first.ask('tasks/cancel', { taskId }), 10_000)
    await time.during(timers.pause(2000), 10_000)
    first.fail(at, 'paused')
    await time.during(timers.pause(4000), 1e6)
    const other = world.openReplica('other')
    await time.during(timers.pause(6 * LEASE_MS), 1e6)
    t.match(await time.during(other.tasks.operator.show(taskId), 1000), { undo: 'done' })
    outcomes.push(undone.join())
    for (const replica of [first, other]) replica.kill()
  }
  // A replica that was paused while it ran the undo has lost it.
  const twice = outcomes.filter((outcome) => outcome.includes(',') && outcome !== 'first,other')
  t.strictSame(twice, [])
  t.ok(outcomes.includes('other'), 'one was paused before it ran the undo')
})

t.test('a replica that looks late leaves the run alone that an answer has begun', async (t) => {
  for (const [own, others] of [[{}, {}], [{}, { secret: 'other' }], [{ isNewer: true }, {}]] as const) {
    for (let at = 0; at < 4; at++) {
      const time = new VirtualTime(t)
      const world = openWorld(async (round) => {
        await Promise.all([round.ask({ go: question }), round.sleep(30_000, undefined, timers.pause)])
        return await new Promise<never>(() => {})
      })
      // A replica without tools for tasks answers, and does not look.
      const first = world.openReplica('first', { isUsed: false, ...own })
      const taskId = await time.during(first.call(), 10_000)
      const other = world.openReplica('other', { pauseMs: 500, ...others })
      await time.during(timers.pause(29_900), 1e6)
      other.fail(at, 'paused')
      await time.during(timers.pause(200), 1e6)
      const inputResponses = { go: { action: 'accept', content: {} } }
      await time.during(first.ask('tasks/update', { taskId, inputResponses }), 1000)
      const answeredAt = time.now
      await time.during(timers.pause(1000), 1e6)
      t.match(await time.during(first.ask('tasks/get', { taskId }), 1000), { status: 'working' })
      const [{ inMs } = { inMs: 0 }] = await world.dueTimes.peek(1, 2 * LEASE_MS)
      t.ok(inMs >= answeredAt + LEASE_MS - time.now, `paused at ${at}: due in ${inMs} ms`)
      t.strictSame(other.warnings.filter((warning) => /was lost/.test(warning)), [])
      for (const replica of [first, other]) replica.kill()
    }
  }
})

t.test('a run has the time of the store that a replica has begun whose clock is wrong', async (t) => {
  for (const aheadMs of [-90_000, 90_000]) {
    // Before its own claim is written.
    for (let at = 0; at < 3; at++) {
      const time = new VirtualTime(t)
      const world = openWorld(async (round) => {
        await Promise.all([round.ask({ go: question }), round.sleep(30_000, undefined, timers.pause)])
        return await new Promise<never>(() => {})
      })
      const first = world.openReplica('first')
      const taskId = await time.during(first.call(), 10_000)
      first.kill()
      const other = world.openReplica('other', { pauseMs: 500 })
      await time.during(timers.pause(29_900), 1e6)
      other.fail(at, 'paused')
      await time.during(timers.pause(200), 1e6)
      // It has not asked the store for the time.
      const second = world.openReplica('second', { aheadMs })
      const inputResponses = { go: { action: 'accept', content: {} } }
      await time.during(second.ask('tasks/update', { taskId, inputResponses }), 1000)
      await time.during(timers.pause(1000), 1e6)
      t.strictSame(other.warnings, [], `paused at ${at}`)
      second.kill()
      await time.during(timers.pause(2 * LEASE_MS), 1e6)
      t.strictSame(other.warnings, ['the replica of a task was lost'])
      other.kill()
    }
  }
})

t.test('a replica that looks late leaves the undo alone that another one has begun', async (t) => {
  let pauses = 0
  for (let at = 0; at < 4; at++) {
    const time = new VirtualTime(t)
    const undone: string[] = []
    const world = openWorld(sleepMinute, {
      async undo (round, replica) {
        await round.sleep(30_000, undefined, timers.pause)
        undone.push(replica)
        return await new Promise<never>(() => {})
      }
    })
    const first = world.openReplica('first', { isUsed: false })
    const taskId = await time.during(first.call(), 10_000)
    const other = world.openReplica('other', { pauseMs: 500 })
    await time.during(first.ask('tasks/cancel', { taskId }), 10_000)
    await time.during(timers.pause(29_900), 1e6)
    other.fail(at, 'paused')
    await time.during(timers.pause(200), 1e6)
    const [{ entry } = { entry: '' }] = await world.dueTimes.peek(1, 2 * LEASE_MS)
    await world.broadcast.send({ type: 'task-offered', entry, tool: 'tool', fingerprint: 'code' })
    await time.during(timers.pause(1000), 1e6)
    t.strictSame(undone.length, 1, `paused at ${at}: ${undone.join()}`)
    if (undone[0] === 'first') pauses++
    t.strictSame(other.warnings, [])
    for (const replica of [first, other]) replica.kill()
  }
  t.ok(pauses > 1, `${pauses}`)
})

t.test('a due time that is removed while a call creates its record is set again', async (t) => {
  for (const lost of ['remove', 'exists', 'set', 'nothing'] as const) {
    const time = new VirtualTime(t)
    const done: string[] = []
    let looks = 0
    let fault: string | undefined = lost
    const operate = (name: string) => {
      done.push(name)
      if (name !== fault) return
      fault = undefined
      throw new StoreUnavailable(new Error('no answer in time'))
    }
    const dueTimes = {
      take: async () => ({ entries: looks++ === 0 ? [KEY.entry] : [], nextInMs: undefined, now: time.now }),
      remove: async () => operate('remove'),
      async set () {
        operate('set')
        return time.now
      }
    }
    const records = {
      read: async () => undefined,
      // The record is there once its due time was removed.
      async exists () {
        const isCreated = done.includes('remove')
        if (isCreated) operate('exists')
        return isCreated
      }
    }
    const storeClock = { note () {}, now: () => time.now }
    const shared = { leaseMs: LEASE_MS, storeClock, dueTimes, records }
    const transitions = new Transitions({
      ...shared, isClosing: () => false, onDue () {}
    } as unknown as TransitionDependencies)
    const runner = new TaskRunner({
      ...shared, transitions, log: { warn () {} }, reports: { hasLeft: false }, isUsed: () => true
    } as unknown as TaskRunnerDependencies)
    runner.start({} as ToolRuns)
    await time.during(timers.pause(LEASE_MS), 2 * LEASE_MS)
    runner.close()
    const isRepeated = lost !== 'nothing'
    t.equal(done.at(-1), 'set', lost)
    t.equal(done.filter((name) => name === 'remove').length, isRepeated ? 2 : 1, done.join())
  }
})

t.test('a creation that took long begins a new lease: the first renewal would come too late', async (t) => {
  for (const slowMs of [0, LEASE_MS / 8]) {
    const time = new VirtualTime(t)
    const world = openWorld(async () => await new Promise<never>(() => {}), { isRequired: true })
    const first = world.openReplica('first', { slowMs })
    await time.during(first.call(), 1e6)
    const [due] = await world.dueTimes.peek(1, 2 * LEASE_MS)
    t.equal(due?.inMs, LEASE_MS)
    first.kill()
  }
})

t.test('a claim that took long renews its lease before the handler is called', async (t) => {
  const callers: string[] = []
  // It takes the entry, reads the record, holds the due time, and writes the record.
  for (let at = 0; at < 4; at++) {
    const time = new VirtualTime(t)
    const calls: string[] = []
    const world = openWorld(async (round, replica) => {
      await round.sleep(2000, undefined, timers.pause)
      calls.push(replica)
      return await new Promise<never>(() => {})
    })
    const first = world.openReplica('first', { pauseMs: LEASE_MS - 100 })
    await time.during(first.call(), 10_000)
    await time.during(timers.pause(1990), 10_000)
    first.fail(at, 'paused')
    await time.during(timers.pause(LEASE_MS - 1000), 1e6)
    const other = world.openReplica('other')
    await time.during(timers.pause(2 * LEASE_MS), 1e6)
    t.equal(calls.length, 1, `paused at ${at}: ${calls.join()}`)
    callers.push(...calls)
    for (const replica of [first, other]) replica.kill()
  }
  t.ok(callers.filter((replica) => replica === 'first').length > 1, callers.join())
})

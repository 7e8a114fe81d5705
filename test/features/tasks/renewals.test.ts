// When a run renews its lease, and what is done to one that is taken for lost.

import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import type { TaskEvent } from '../../../src/features/tasks/machine/events.ts'
import type { TaskRecord } from '../../../src/features/tasks/records/record.ts'
import type { TaskKey } from '../../../src/features/tasks/records/records.ts'
import { TaskRun, type TaskRunDependencies } from '../../../src/features/tasks/runs/run.ts'
import { TaskRunner, type TaskRunnerDependencies } from '../../../src/features/tasks/runs/runner.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { Transitions, type TransitionDependencies } from '../../../src/features/tasks/machine/transitions.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { LEASE_MS } from './replicas.ts'
import { RUNNING } from './transition-cases.ts'

const KEY: TaskKey = { id: 'task', state: { owner: 'tasks', name: 'task' }, entry: 'tasks/task' }

/** Begins a run that notes its events. @param holdsMs how long each hold of the due time takes. */
function openRun (time: VirtualTime, holdsMs: readonly number[] = []) {
  let holds = 0
  const events: Array<TaskEvent['type']> = []
  const record = { ...RUNNING, run: 3 }
  const dependencies = {
    leaseMs: LEASE_MS,
    patienceMs: 0,
    storeClock: { now: () => time.now },
    records: { read: async () => ({ record, version: '1' }) },
    transitions: {
      hold: async () => await timers.pause(holdsMs[holds++] ?? 0),
      insist: async (work: () => Promise<void>) => await work(),
      async apply (_: TaskKey, event: TaskEvent) {
        events.push(event.type)
        return { record: { ...record, run: 4 }, version: '2', transition: {}, heldAt: time.now }
      }
    }
  } as unknown as TaskRunDependencies
  const run = TaskRun.resume(dependencies, KEY, { record, version: '1' }, time.now)
  return { run, events }
}

t.test('a lease counts from when its renewal was asked for', async (t) => {
  const time = new VirtualTime(t)
  const { run } = openRun(time, [LEASE_MS / 4])
  const askedAt = time.now
  await time.during(run.renew(), LEASE_MS)
  t.equal(time.now - askedAt, LEASE_MS / 4)
  t.equal(run.allowStep(), undefined)
  await time.during(timers.pause(LEASE_MS * 3 / 4), LEASE_MS)
  t.ok(run.allowStep() instanceof Promise, 'it asks before a step')
  await time.during(timers.pause(LEASE_MS), 2 * LEASE_MS)
})

t.test('a slow renewal is followed by another: the next regular one would come too late', async (t) => {
  for (const slowMs of [LEASE_MS - 100, LEASE_MS + 100]) {
    const time = new VirtualTime(t)
    const { run } = openRun(time, [slowMs])
    await time.during(run.renew(), 2 * LEASE_MS)
    await time.during(timers.pause(LEASE_MS / 2), LEASE_MS)
    t.equal(run.allowStep(), undefined)
  }
})

t.test('a run that goes on just after its lease has another number', async (t) => {
  const time = new VirtualTime(t)
  const { run, events } = openRun(time)
  await time.during(timers.pause(LEASE_MS - 1), LEASE_MS)
  await time.during(run.renew(), 1000)
  t.strictSame(events, [])
  await time.during(timers.pause(LEASE_MS), LEASE_MS)
  await time.during(Promise.resolve(run.allowStep()), 1000)
  t.strictSame(events, ['reclaimed'])
})

t.test('a renewal that has failed is tried again before the next regular one', async (t) => {
  const time = new VirtualTime(t)
  const begunAt = time.now
  const renewals: number[] = []
  const log = { warn () {} }
  const runner = new TaskRunner({ leaseMs: LEASE_MS, log } as unknown as TaskRunnerDependencies)
  const run = {
    key: KEY,
    async renew () {
      renewals.push(time.now - begunAt)
      if (renewals.length > 1) return
      await timers.pause(1000)
      throw new StoreUnavailable(new Error('no answer in time'))
    }
  } as unknown as TaskRun
  runner.add(run)
  await time.during(timers.pause(LEASE_MS * 2 / 3 - 100), LEASE_MS)
  t.equal(renewals.length, 2, `two lost replies in a row would take the lease: ${renewals.join()}`)
  runner.remove(run)
  await time.during(timers.pause(LEASE_MS), 2 * LEASE_MS)
  t.equal(renewals.length, 2, 'a run that has ended is not renewed')
  runner.close()
})

t.test('what a look decides for a lost run is not done to the sleep that it writes meanwhile', async (t) => {
  const time = new VirtualTime(t)
  const writes: unknown[] = []
  const sleeping = { ...RUNNING, isRunning: false, wakesAt: time.now - LEASE_MS }
  const transitions = new Transitions({
    leaseMs: LEASE_MS,
    storeClock: { now: () => time.now, note () {} },
    dueTimes: { set: async () => time.now },
    records: {
      read: async () => ({ record: sleeping, version: '2' }),
      release: async () => {},
      async replace (_: TaskKey, version: string, record: TaskRecord) {
        if (version === '1') return undefined
        writes.push(record)
        return { record, version: '3' }
      }
    },
    isClosing: () => false,
    onDue () {},
    announce () {}
  } as unknown as TransitionDependencies)
  const due = { type: 'due', run: RUNNING.run, isHere: false, isOutdated: true } as const
  const from = { record: RUNNING, version: '1' }
  t.equal(await transitions.apply(KEY, due, { from, isForThis: true }), undefined)
  t.strictSame(writes, [])
  await transitions.apply(KEY, due, { from })
  t.match(writes, [{ status: 'failed' }], 'it has had no time at a replica with its code')
})

// What clients were told of a task stays true: its end, and that it exists.

import t, { type Test } from 'tap'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import { StoreUnavailable, type StateValue } from '../../../src/platform/store/records/state-store.ts'
import { createLocalBroadcast } from '../../../src/platform/store/changes/local-broadcast.ts'
import { TaskAccess, type TaskAccessDependencies } from '../../../src/features/tasks/clients/access.ts'
import type { TaskEvent } from '../../../src/features/tasks/machine/events.ts'
import { createTaskFollowers } from '../../../src/features/tasks/clients/followers.ts'
import type { StoredTask, TaskKey } from '../../../src/features/tasks/records/records.ts'
import { TaskWatches } from '../../../src/features/tasks/runs/watches.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { FakeSink } from '../../platform/store/changes/fake-sink.ts'
import { LEASE_MS, openWorld, question } from './replicas.ts'
import { ASKING, NOW, OVER, RUNNING } from './transition-cases.ts'

t.test('tasks/get tells of an end once a failover cannot undo it', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async () => 'done', { isRequired: true })
  const { confirm } = world.store
  world.store.confirm = async () => { throw new StoreUnavailable(new Error('the standby is away')) }
  const replica = world.openReplica('first')
  const id = await time.during(replica.call(), 10_000)
  await time.during(timers.pause(100), 1000)
  const get = async () => await replica.ask('tasks/get', { taskId: id })
  await t.rejects(time.during(get(), 10_000), StoreUnavailable)
  world.store.confirm = confirm
  const other = world.openReplica('other')
  const task = await time.during(other.ask('tasks/get', { taskId: id }), 10_000)
  t.match(task, { status: 'completed', result: 'done' })
})

t.test('tasks/get tells of a question once a failover cannot undo it, and of work at once', async (t) => {
  const key: TaskKey = { id: 'task', state: { owner: 'tasks', name: 'task' }, entry: 'tasks/task' }
  for (const record of [ASKING, OVER, RUNNING]) {
    const confirmed: string[] = []
    // The first version is lost by a failover. The next read tells of the one before it.
    const versions = [{ record, version: 'lost' }, { record: RUNNING, version: 'kept' }]
    const access = new TaskAccess({
      records: {
        keyOf: () => key,
        read: async () => versions.shift(),
        async confirm (_: TaskKey, version: string) {
          confirmed.push(version)
          return version !== 'lost'
        }
      },
      storeClock: { now: () => NOW },
      transitions: {
        apply: async (_: TaskKey, __: TaskEvent, { from }: { from: StoredTask }) => from
      },
      snapshot: () => ({ view: () => ({ tool: () => ({}) }) })
    } as unknown as TaskAccessDependencies)
    t.match(JSON.parse(`{${await access.get(ANONYMOUS, key.id)}}`), { status: 'working' })
    t.strictSame(confirmed, record === RUNNING ? [] : ['lost'], record.status)
  }
})

t.test('an answer that the record has already is acknowledged once a failover cannot undo it', async (t) => {
  const key: TaskKey = { id: 'task', state: { owner: 'tasks', name: 'task' }, entry: 'tasks/task' }
  const [name = ''] = Object.keys(ASKING.questions)
  const responses = { [name]: { action: 'decline' } }
  // A failover loses the version with the answer.
  const versions = [{ record: RUNNING, version: 'lost' }, { record: ASKING, version: 'kept' }]
  const events: TaskEvent[] = []
  const access = new TaskAccess({
    records: {
      keyOf: () => key,
      read: async () => versions.shift(),
      confirm: async (_: TaskKey, version: string) => version !== 'lost'
    },
    storeClock: { now: () => NOW },
    runner: { hasRoom: () => false },
    transitions: {
      async apply (_: TaskKey, event: TaskEvent) {
        events.push(event)
        return { record: RUNNING, version: 'next', transition: { record: RUNNING, isClaimed: false } }
      }
    },
    snapshot: () => ({ view: () => ({ tool: () => ({}) }) })
  } as unknown as TaskAccessDependencies)
  await access.update(ANONYMOUS, key.id, responses)
  t.match(events, [{ type: 'answered', responses }])
})

t.test('a stream tells of an end once a failover cannot undo it', async (t) => {
  const time = new VirtualTime(t)
  const record = { status: 'completed', createdAt: 0, updatedAt: 0, ttlMs: 1000, result: '{}' }
  let isDurable = false
  const watches = new TaskWatches(createLocalBroadcast())
  const followers = createTaskFollowers({
    records: {
      keyOf: (_: unknown, id: string) => ({ id, entry: id }), read: async () => ({ record, version: '1' })
    } as never,
    access: {
      isVisible: () => true,
      async mayTell () {
        if (!isDurable) throw new StoreUnavailable(new Error('the standby is away'))
        return true
      }
    },
    watches,
    now: () => 0
  })
  const sink = new FakeSink()
  followers.follow({ principal: ANONYMOUS }, ['task'], { sink, toMessage: (members) => `{${members}}` })
  await time.during(timers.pause(5000), 10_000)
  t.equal(sink.messages.length, 0)
  isDurable = true
  await time.during(timers.pause(5000), 10_000)
  t.equal(sink.messages.length, 1)
  watches.close()
})

/** Opens a task that asks, and a way to cancel it and to take that back, as a failover does. */
async function openAsking (t: Test) {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => {
    await timers.pause(2000)
    await round.ask({ question })
    return 'done'
  }, { isRequired: true, maxPerOwner: 1 })
  const { confirm, replace } = world.store
  const failover = { isNext: false }
  let before: StateValue | undefined
  world.store.replace = async (...args) => {
    before = (await world.store.peek(args[0]))?.value
    return await replace(...args)
  }
  world.store.confirm = async (key, version) => {
    if (failover.isNext && before !== undefined) await replace(key, version, before)
    failover.isNext = false
    return await confirm(key, version)
  }
  const replica = world.openReplica('first')
  const id = await time.during(replica.call(), 10_000)
  await time.during(timers.pause(5000), 10_000)
  const ask = async (method: string) => await time.during(replica.ask(method, { taskId: id }), 10_000)
  return { time, world, replica, ask, loseNext: () => { failover.isNext = true } }
}

t.test('tasks/get does not tell of an end that a failover has taken back', async (t) => {
  const { ask, loseNext } = await openAsking(t)
  await ask('tasks/cancel')
  loseNext()
  t.match(await ask('tasks/get'), { status: 'input_required' })
})

t.test('tasks/cancel cancels again what a failover has taken back', async (t) => {
  const { ask, loseNext } = await openAsking(t)
  await ask('tasks/cancel')
  loseNext()
  await ask('tasks/cancel')
  t.match(await ask('tasks/get'), { status: 'cancelled' })
})

for (const [when, at] of [['before its due time', 3], ['before its place is free', 4]] as const) {
  t.test(`an end is told, and its place is free, if its replica was lost ${when}`, async (t) => {
    const { time, world, replica, ask } = await openAsking(t)
    const told: unknown[] = []
    world.broadcast.subscribe((event) => { told.push(event) })
    // The read, the hold, the write of the record, the place.
    replica.fail(at - 1, 'killed-after')
    await t.rejects(ask('tasks/cancel'))
    const other = world.openReplica('other')
    await time.during(timers.pause(2 * LEASE_MS), 1e6)
    t.match(told, [{ type: 'task-changed', isOver: true }])
    t.match(await time.during(other.call(), 10_000), /^task_/)
  })
}

t.test('a task outlives its replica, also if that was paused before it created the task', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (_, replica) => {
    await timers.pause(4 * LEASE_MS)
    return replica
  }, { isRequired: true })
  const first = world.openReplica('first')
  const other = world.openReplica('other')
  await time.during(timers.pause(100), 1000)
  // Its due time is set then, and the other replica removes it: there is no such task yet.
  first.fail(0, 'paused')
  const id = await time.during(first.call(), 10 * LEASE_MS)
  first.kill()
  await time.during(timers.pause(8 * LEASE_MS), 1e6)
  const task = await time.during(other.ask('tasks/get', { taskId: id }), 1000)
  t.match(task, { status: 'completed', result: 'other' })
})

t.test('the time limit of a call does not end the task that it becomes', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (_, replica) => {
    await timers.pause(4 * LEASE_MS)
    return replica
  }, { isRequired: true, timeoutMs: 2 * LEASE_MS })
  const first = world.openReplica('first')
  await time.during(timers.pause(100), 1000)
  first.fail(0, 'paused')
  const id = await time.during(first.call(), 10 * LEASE_MS)
  await time.during(timers.pause(8 * LEASE_MS), 1e6)
  const task = await time.during(first.ask('tasks/get', { taskId: id }), 1000)
  t.match(task, { status: 'completed', result: 'first' })
})

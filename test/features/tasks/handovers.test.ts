// Tasks that must not go on in changed code go on at a replica with their code, whatever makes them due.

import t, { type Test } from 'tap'
import { timers } from '../../../src/base/time.ts'
import { ToolError } from '../../../src/platform/author/tool-error.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { StoreUnavailable } from '../../../src/platform/store/records/state-store.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { LEASE_MS, openWorld, question, type Script } from './replicas.ts'

type World = ReturnType<typeof openWorld>
type Replica = ReturnType<World['openReplica']>

/** The replicas when the task becomes due: of the two with its code, the first one has begun it. */
interface Scene {
  readonly first: Replica
  readonly next: Replica
  readonly taskId: string
}

interface Way {
  readonly name: string
  readonly script: Script
  readonly undo?: Script
  readonly status?: string
  /** Makes the task due. */
  act? (scene: Scene): Promise<unknown>
  /** How long the task takes after that, without the handover. */
  readonly inMs?: number
}

const RELEASE = { code: 'changed', mayGoOnChanged: false }
const ACCEPT = { go: { action: 'accept', content: {} } }
/** The time of an operation: a replica that has left a task looks again 50 ms after it is due. */
const SLOW_MS = 70
const FAST_MS = 5
/** Time for a handover: some operations of a slow replica. */
const HANDOVER_MS = 1500

const sleep = async (round: InputRound, ms: number) => await round.sleep(ms, undefined, timers.pause)
const forever = async () => await new Promise<never>(() => {})
const kill = async ({ first }: Scene) => first.kill()

/** Does the work in the second run. */
function inSecondRun (first: Script): Script {
  const runs = { count: 0 }
  return async (...run) => {
    await sleep(run[0], 2000)
    return runs.count++ === 0 ? await first(...run) : run[1]
  }
}

const toWays = (): readonly Way[] => [
  {
    name: 'its sleep is over',
    script: async (round, replica) => {
      await sleep(round, 30_000)
      return replica
    },
    inMs: 30_000
  },
  {
    name: 'its question is answered',
    script: async (round, replica) => {
      await sleep(round, 2000)
      await round.ask({ go: question })
      return replica
    },
    act: async ({ next, taskId }) => await next.ask('tasks/update', { taskId, inputResponses: ACCEPT })
  },
  {
    name: 'its replica was lost',
    script: inSecondRun(forever),
    act: kill,
    inMs: 2 * LEASE_MS
  },
  {
    name: 'its replica was lost, and it asks no longer',
    script: async (round, replica) => {
      await sleep(round, 2000)
      await round.ask({ go: question })
      return replica
    },
    async act ({ first, next, taskId }) {
      first.kill()
      await next.ask('tasks/update', { taskId, inputResponses: ACCEPT })
    }
  },
  {
    name: 'the store was away',
    script: inSecondRun(async () => { throw new StoreUnavailable(new Error('away')) }),
    inMs: 5000
  },
  {
    name: 'an operator retries it',
    script: inSecondRun(async () => { throw new StoreUnavailable(new Error('away')) }),
    act: async ({ next, taskId }) => await next.tasks.operator.retry(taskId)
  },
  {
    name: 'it was cancelled, and is undone',
    status: 'cancelled',
    script: async (round) => {
      await sleep(round, 60_000)
      return 'not undone'
    },
    undo: async (_, replica) => replica,
    act: async ({ next, taskId }) => await next.ask('tasks/cancel', { taskId })
  },
  {
    name: 'it was cancelled while its handler ran, and is undone',
    status: 'cancelled',
    script: inSecondRun(forever),
    undo: async (_, replica) => replica,
    act: async ({ next, taskId }) => await next.ask('tasks/cancel', { taskId }),
    inMs: LEASE_MS
  },
  {
    name: 'it has failed, and is undone',
    status: 'failed',
    script: inSecondRun(async () => { throw new ToolError('Too late.') }),
    undo: async (_, replica) => replica
  },
  {
    name: 'the replica of its undo was lost',
    status: 'failed',
    script: inSecondRun(async () => { throw new ToolError('Too late.') }),
    undo: async (round, replica) => {
      await sleep(round, 1500)
      return replica
    },
    act: kill,
    inMs: 3 * LEASE_MS
  }
]

for (const losesEvents of [false, true]) {
  for (const { name, script, undo, status = 'completed', act, inMs = 0 } of toWays()) {
    const when = losesEvents ? 'though its offers are lost' : 'at once'
    t.test(`a task goes on in its code, ${when}: ${name}`, async (t) => {
      const time = new VirtualTime(t)
      const runs: string[] = []
      const note = (noted: Script): Script => async (...run) => {
        runs.push(run[1])
        return await noted(...run)
      }
      const world = openWorld(note(script), undo === undefined ? {} : { undo: note(undo) })
      const slowMs = losesEvents ? FAST_MS : SLOW_MS
      const first = world.openReplica('first', { slowMs })
      const next = world.openReplica('next', RELEASE)
      world.openReplica('other', RELEASE)
      const taskId = await time.during(first.call(), 10_000)
      await time.during(timers.pause(4000), 10_000)
      world.openReplica('second', { slowMs })
      world.losesEvents = losesEvents
      await time.during(Promise.resolve(act?.({ first, next, taskId })), 10_000)
      await time.during(timers.pause(inMs + (losesEvents ? 3 * LEASE_MS : HANDOVER_MS)), 1e6)
      const task = await time.during(next.tasks.operator.show(taskId), 10_000)
      t.match(task, { status, ...undo !== undefined && { undo: 'done' } })
      t.strictSame(runs.filter((replica) => !['first', 'second'].includes(replica)), [])
    })
  }
}

t.test('changed code undoes the work of a task that no replica with its code has taken', async (t) => {
  const time = new VirtualTime(t)
  const undone: string[] = []
  const world = openWorld(async (round) => {
    await sleep(round, 60_000)
    return 'not undone'
  }, { undo: async (_, replica) => String(undone.push(replica)) })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 10_000)
  const next = world.openReplica('next', RELEASE)
  await time.during(timers.pause(2000), 10_000)
  first.kill()
  await time.during(next.ask('tasks/cancel', { taskId }), 1000)
  await time.during(timers.pause(1.9 * LEASE_MS), 1e6)
  t.strictSame(undone, [])
  await time.during(timers.pause(LEASE_MS), 1e6)
  t.strictSame(undone, ['next'])
})

/** Asserts that a replica leaves the task for a lease, and that one with its code then takes it. */
async function assertTimeFor (
  t: Test, time: VirtualTime, world: World, next: Replica, taskId: string
): Promise<void> {
  const get = async () => await time.during(next.ask('tasks/get', { taskId }), 1000)
  await time.during(timers.pause(LEASE_MS), 1e6)
  t.match(await get(), { status: 'working' })
  world.openReplica('second')
  await time.during(timers.pause(LEASE_MS), 1e6)
  t.match(await get(), { status: 'completed', result: 'second' })
}

t.test('replicas that start together give those with the code of a task their time', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 2000)
    return replica
  })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 10_000)
  first.kill()
  await time.during(timers.pause(5 * LEASE_MS), 1e6)
  const next = world.openReplica('next', RELEASE)
  await assertTimeFor(t, time, world, next, taskId)
})

t.test('a replica that was paused gives those with the code of a task their time', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 5000)
    return replica
  })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 10_000)
  first.kill()
  const next = world.openReplica('next', RELEASE)
  await time.during(timers.pause(2000), 10_000)
  time.skip(5 * LEASE_MS)
  await assertTimeFor(t, time, world, next, taskId)
})

t.test('a replica that was paused in a look gives those with the code of a task their time', async (t) => {
  for (let at = 0; at < 3; at++) {
    const time = new VirtualTime(t)
    const world = openWorld(async (round, replica) => {
      await sleep(round, 3 * LEASE_MS)
      return replica
    })
    const first = world.openReplica('first')
    const taskId = await time.during(first.call(), 10_000)
    first.kill()
    const next = world.openReplica('next', RELEASE)
    await time.during(timers.pause(3 * LEASE_MS - 100), 1e6)
    next.fail(at, 'paused')
    await time.during(timers.pause(3.5 * LEASE_MS), 1e6)
    await assertTimeFor(t, time, world, next, taskId)
    next.kill()
  }
})

t.test('of several replicas that are offered a task one runs it', async (t) => {
  const time = new VirtualTime(t)
  const runs: string[] = []
  const world = openWorld(async (round, replica) => {
    await sleep(round, 30_000)
    runs.push(replica)
    await timers.pause(3 * LEASE_MS)
    return replica
  })
  const first = world.openReplica('first', { slowMs: SLOW_MS })
  const taskId = await time.during(first.call(), 10_000)
  world.openReplica('next', RELEASE)
  for (const name of ['second', 'third', 'fourth']) world.openReplica(name, { slowMs: SLOW_MS })
  await time.during(timers.pause(30_000 + 5 * LEASE_MS), 1e6)
  t.equal(runs.length, 1)
  t.match(await time.during(first.ask('tasks/get', { taskId }), 1000), { status: 'completed' })
})

t.test('a replica takes no task for an offer that is false', async (t) => {
  const time = new VirtualTime(t)
  const runs: string[] = []
  const world = openWorld(async (round, replica) => {
    runs.push(replica)
    await sleep(round, 30_000)
    return await forever()
  })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 10_000)
  world.openReplica('second')
  const [{ entry = '' } = {}] = await world.dueTimes.peek(1, Infinity)
  const offer = { type: 'task-offered', entry, tool: 'tool', fingerprint: 'code' }
  const sendAll = async () => {
    for (const other of [
      {}, { entry: 1 }, { entry: 'unknown/task' }, { tool: 'other' }, { fingerprint: 'other' }
    ]) await world.broadcast.send({ ...offer, ...other })
    await time.during(timers.pause(1000), 10_000)
  }
  await sendAll()
  t.equal(runs.length, 1, 'it sleeps')
  await time.during(timers.pause(40_000), 1e6)
  await sendAll()
  t.equal(runs.length, 2, 'it runs')
  t.match(await time.during(first.ask('tasks/get', { taskId }), 1000), { status: 'working' })
})

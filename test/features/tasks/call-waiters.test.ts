// Requests for calls that end early: the client leaves, or the service closes.

import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { ANONYMOUS, type Principal } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import { ClientGone, Lifetime, ServiceClosing } from '../../../src/request/pipeline/lifetime.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import { createLocalDueTimes } from '../../../src/platform/store/records/due-times.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { CallWaiters, type CallWaitersDependencies } from '../../../src/features/tasks/calls/waiters.ts'
import { adoptFirst } from '../../../src/features/tasks/calls/names.ts'
import { TaskRecords, type TaskKey } from '../../../src/features/tasks/records/records.ts'
import type { Transitions } from '../../../src/features/tasks/machine/transitions.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { OVER, RUNNING } from './transition-cases.ts'

t.test('a record that a late write may create again is kept until then', async (t) => {
  for (const isInDoubt of [false, true]) {
    const time = new VirtualTime(t)
    const records = new TaskRecords(createMemoryStateStore(), createSealer(['secret']), 10)
    const key = records.newKey(ANONYMOUS)
    const record = { ...OVER, undo: undefined, createdAt: time.now }
    const stored = await records.create(key, record)
    const work: Array<Promise<void>> = []
    const waiters = new CallWaiters({
      records,
      dueTimes: createLocalDueTimes(),
      transitions: { apply: async () => ({ ...stored, transition: undefined, heldAt: 0 }) },
      waits: { waitFor: async () => await new Promise<never>(() => {}) },
      background: (one: Promise<void>) => { work.push(one) }
    } as unknown as CallWaitersDependencies)
    const lifetime = new Lifetime()
    const request = { lifetime, principal: ANONYMOUS, observed: {} }
    const round = { once: async () => await new Promise<never>(() => {}) }
    const call = { openRound: () => round, tool: {} }
    const answering = Promise.resolve(waiters.answer(
      request as never, call as never, { name: undefined, takesTasks: false },
      { key, record, isAtOnce: false, isInDoubt }
    ))
    answering.catch(() => {})
    lifetime.stop(new ClientGone())
    await nextTurn()
    await Promise.all(work)
    t.equal(await records.read(key) !== undefined, isInDoubt)
    await time.during(timers.pause(61_000), 1e6)
    t.equal(await records.read(key), undefined)
  }
})

t.test('a service that closes says that a call goes on only if its answers are kept', async (t) => {
  const records = new TaskRecords(createMemoryStateStore(), createSealer(['secret']), 10)
  const { id } = records.newKey(ANONYMOUS)
  const waiters = new CallWaiters({
    records, waits: { waitFor: async () => await new Promise<never>(() => {}) }
  } as unknown as CallWaitersDependencies)
  for (const isKept of [false, true]) {
    const lifetime = new Lifetime()
    lifetime.startClock()
    const writer = { write: (members: object) => JSON.stringify(members) }
    const request = { lifetime, principal: ANONYMOUS, observed: { subject: 'bakes' }, writer }
    const following = waiters.follow(
      request as never, { settle () {} } as never, id, { isError: false, hasAnswer: true },
      async () => { if (!isKept) await new Promise<never>(() => {}) }
    )
    following.catch(() => {})
    await nextTurn()
    lifetime.stop(new ServiceClosing())
    if (isKept) t.match(await following, /bakes/)
    else await t.rejects(following, { message: 'The service is shutting down' })
  }
})

t.test('a repetition of a call is an access to its task', async (t) => {
  const records = new TaskRecords(createMemoryStateStore(), createSealer(['secret']), 10)
  const [first] = records.keysFor(ANONYMOUS, 'the same call')
  const record = { ...RUNNING, createdAt: Date.now(), updatedAt: Date.now() }
  const { version } = await records.create(first, record)
  const seen: string[] = []
  const waiters = new CallWaiters({
    records,
    storeClock: { now: () => Date.now() },
    access: {
      async see (_: Principal, id: string) {
        seen.push(id)
        return { key: first, record, version }
      }
    }
  } as unknown as CallWaitersDependencies)
  const writer = { writeTask: (members: string) => `{${members}}` }
  const request = { principal: ANONYMOUS, observed: {}, writer }
  const result = await waiters.join(
    request as never, { args: record.args, tool: {} } as never, { first, otherKeys: [], isGiven: true },
    { name: undefined, takesTasks: true }
  )
  t.match(JSON.parse(result), { taskId: first.id, status: 'working' })
  t.strictSame(seen, [first.id])
})

t.test('the first repetition gives a task a due time, which may have been removed', async (t) => {
  const records = new TaskRecords(createMemoryStateStore(), createSealer(['secret']), 10)
  const first = records.newKey(ANONYMOUS)
  await records.create(first, { ...RUNNING, generation: 0, createdAt: Date.now() })
  const held: unknown[] = []
  const transitions = {
    hold: async ({ id }: TaskKey, generation: number) => { held.push([id, generation]) }
  } as Transitions
  const name = { first, otherKeys: [], isGiven: true }
  const adopt = async () => await adoptFirst({ records, transitions }, name)
  for (let repetition = 0; repetition < 3; repetition++) t.match(await adopt(), { record: { generation: 1 } })
  t.strictSame(held, [[first.id, 0]])
})

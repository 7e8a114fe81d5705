// What operators see of tasks, and what they may change.

import t from 'tap'
import { ANONYMOUS, ownerOf } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import type { TaskListing, TaskOperator } from '../../../src/features/tasks/operators/operator.ts'
import type { TaskFacts, UnreadTask } from '../../../src/features/tasks/operators/task-facts.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { ADA, LEASE_MS, openWorld, question } from './replicas.ts'

const sleep = async (round: InputRound, ms: number) => await round.sleep(ms, undefined, timers.pause)
const FOREVER = new Promise<never>(() => {})
const BOB = { ...ADA, subject: 'bob' }
const SECOND = 1000
const RECORDING = { trivet: '1.0.0', hasValues: true }

async function listAll (operator: TaskOperator, filter = {}, limit = 100): Promise<TaskListing['tasks']> {
  const tasks: Array<TaskFacts | UnreadTask> = []
  let cursor: string | undefined
  do {
    const page = await operator.list(filter, cursor, limit)
    tasks.push(...page.tasks)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tasks
}

const idsOf = (tasks: TaskListing['tasks']) => tasks.map(({ taskId }) => taskId)

/** A handler for each subject. */
const byName = async (round: InputRound, name: string) => {
  await round.once('first', () => 'a secret result of a step')
  if (name === 'asks') await round.ask({ go: question })
  if (name === 'sleeps') await sleep(round, 600_000)
  if (name === 'runs') await FOREVER
  if (name === 'fails') throw new Error('a secret message')
  return 'a secret result'
}

t.test('tells phase, age, steps, why a task waits and until when, of ended tasks too', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(
    async (round, _, { subject = '' }) => await byName(round, subject), { isRequired: true, scopes: [] }
  )
  const { call, tasks: { operator } } = world.openReplica('only')
  const ids = new Map<string, string>()
  for (const subject of ['sleeps', 'asks', 'runs', 'ends', 'fails']) {
    ids.set(subject, await time.during(call({ scopes: new Set(), subject }), 5 * SECOND))
  }
  await time.during(timers.pause(30 * SECOND), 60 * SECOND)
  const tasks = await listAll(operator)
  const of = (subject: string) => tasks.find((task) => 'subject' in task && task.subject === subject)
  const common = { tool: 'tool', requestId: 'r', losses: 0, lastStep: 'first', steps: 1, isOverdue: false }
  t.match(of('sleeps'), {
    ...common,
    taskId: ids.get('sleeps'),
    status: 'working',
    phase: 'waiting',
    waitsFor: 'sleep',
    runs: 1,
    wakesAt: /^2027-.*Z$/,
    createdAt: /^2027-/,
    questions: undefined
  })
  t.match(of('asks'), { ...common, phase: 'asking', waitsFor: 'question', questions: ['go'], runs: 1 })
  t.match(of('runs'), { ...common, phase: 'running', waitsFor: undefined, wakesAt: undefined, runs: 1 })
  t.match(of('ends'), { ...common, status: 'completed', phase: 'over', runs: 1 })
  t.match(of('fails'), { ...common, status: 'failed', phase: 'over', errorCode: -32603 })
  for (const task of tasks) t.ok('ageMs' in task && task.ageMs >= 29 * SECOND && task.ageMs < 60 * SECOND)
  t.notMatch(JSON.stringify(tasks), /secret|arguments/)
  t.strictSame(
    idsOf(await listAll(operator, { phase: 'over', status: 'failed' })), [ids.get('fails')]
  )
  t.strictSame(idsOf(await listAll(operator, { subject: 'asks' })), [ids.get('asks')])
  t.strictSame(await listAll(operator, { tool: 'other' }), [])
  t.strictSame(await listAll(operator, { olderThanMs: 60 * SECOND }), [])
  const shown = await time.during(operator.show(ids.get('sleeps') ?? ''), SECOND)
  t.match(shown, { ...common, waitsFor: 'sleep', arguments: { of: 'tool', args: {} } })
  t.equal(await time.during(operator.show('task_0000000000000000000000'), SECOND), undefined)
})

t.test('an ended task is listed as long as its record is kept, and its entry is then removed', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async () => 'done', { isRequired: true, ttlMs: 60 * SECOND })
  const { call, ask, tasks: { operator } } = world.openReplica('only')
  const taskId = await time.during(call(), 5 * SECOND)
  await time.during(timers.pause(SECOND), 5 * SECOND)
  const { expiresAt } = Object(await time.during(operator.show(taskId), SECOND))
  await time.during(timers.pause(Date.parse(expiresAt) - time.now - 5 * SECOND), 1e9)
  t.match(await time.during(ask('tasks/get', { taskId }), SECOND), { status: 'completed' })
  t.match(await operator.list({}, undefined, 10), { tasks: [{ status: 'completed' }] })
  await time.during(timers.pause(10 * SECOND), 1e6)
  t.match(await operator.list({}, undefined, 10), { tasks: [] })
  await time.during(timers.pause(120 * SECOND), 1e6)
  t.strictSame((await world.dueTimes.list(undefined, 10)).entries, [])
})

t.test('pages go on at their cursor, and a page that took long is short', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => await byName(round, 'sleeps'), { isRequired: true })
  const { call, tasks: { operator } } = world.openReplica('only')
  const ids: string[] = []
  for (let count = 0; count < 30; count++) {
    ids.push(await time.during(call(count % 3 === 0 ? BOB : ADA), SECOND))
  }
  const first = await operator.list({}, undefined, 7)
  t.equal(first.tasks.length, 7)
  t.strictSame(idsOf(await listAll(operator, {}, 7)).toSorted(), ids.toSorted())
  t.equal((await listAll(operator, { subject: 'bob' }, 2)).length, 10)
  await t.rejects(operator.list({}, 'nonsense', 7), RangeError)
})

t.test('of a task that this replica cannot open there is only the id, and nothing is changed', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => await byName(round, 'sleeps'), { isRequired: true })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), SECOND)
  const { operator } = world.openReplica('other', { secret: 'another' }).tasks
  const sealed = { taskId, left: 'sealed' }
  t.strictSame(await listAll(operator), [sealed])
  t.strictSame(await listAll(operator, { subject: 'ada' }), [], 'no filter fits it')
  t.strictSame(await time.during(operator.show(taskId), SECOND), sealed)
  for (const change of ['cancel', 'retry', 'record'] as const) {
    const { outcome, problem } = await time.during(operator[change](taskId, RECORDING), SECOND)
    t.match([outcome, problem], ['refused', /sealed with a secret that this replica lacks/])
  }
  t.match(await time.during(first.ask('tasks/get', { taskId }), SECOND), { status: 'working' })
})

t.test('cancel ends a task of any owner, as the owner can, and does nothing after the end', async (t) => {
  const time = new VirtualTime(t)
  const aborted: string[] = []
  const world = openWorld(async (round, replica) => {
    await round.once('first', () => 1)
    try {
      while (true) {
        await timers.pause(100)
        await round.once(String(time.now), () => 1)
      }
    } finally {
      aborted.push(replica)
    }
  }, { isRequired: true })
  const [first, other] = [world.openReplica('first'), world.openReplica('other')]
  const taskId = await time.during(first.call(), SECOND)
  const { operator } = other.tasks
  t.match(await time.during(operator.cancel(taskId), SECOND), {
    outcome: 'done', task: { status: 'cancelled' }
  })
  t.match(await time.during(first.ask('tasks/get', { taskId }), SECOND), { status: 'cancelled' })
  await time.during(timers.pause(SECOND), 5 * SECOND)
  t.strictSame(aborted, ['first'], 'the handler has stopped, on the other replica')
  t.match(await time.during(operator.cancel(taskId), SECOND), {
    outcome: 'refused', problem: 'has ended: cancelled'
  })
  t.match(await time.during(operator.cancel('task_0000000000000000000000'), SECOND), { outcome: 'unknown' })
})

t.test('retry runs a task that pauses after losses at once, and forgets the losses', async (t) => {
  const time = new VirtualTime(t)
  const replicas = new Map<string, ReturnType<typeof world.openReplica>>()
  const begun: Array<[string, number]> = []
  const world = openWorld(async (round, replica) => {
    await round.once('first', () => 1)
    await sleep(round, 2 * SECOND)
    begun.push([replica, time.now])
    if (replica === 'last') return 'done'
    replicas.get(replica)?.kill()
    return await FOREVER
  })
  const last = world.openReplica('last', { knows: false })
  for (const name of ['r0', 'r1', 'r2']) replicas.set(name, world.openReplica(name))
  const taskId = await time.during(replicas.get('r0')?.call() ?? FOREVER, 10 * SECOND)
  const { operator } = last.tasks
  const read = async () => Object(await time.during(operator.show(taskId), SECOND))
  for (let task = await read(); task.losses < 3; task = await read()) {
    await time.during(timers.pause(100), SECOND)
    if (time.now > 1_800_000_600_000) throw new Error('no third loss')
  }
  t.match(await read(), { phase: 'waiting', waitsFor: 'loss', losses: 3, wakesAt: /Z$/ })
  t.match(last.tasks.counts.losses, { 1: 0, 2: 0 }, 'each loss is counted where it is noticed')
  const noticed = [...replicas.values(), last].map(({ tasks }) => tasks.counts.losses)
  for (const inARow of [1, 2, 3]) t.equal(noticed.reduce((sum, one) => sum + (one[inARow] ?? 0), 0), 1)
  const next = world.openReplica('last')
  const retriedAt = time.now
  t.match(await time.during(next.tasks.operator.retry(taskId), SECOND), {
    outcome: 'done', task: { losses: 0, waitsFor: 'replica' }
  })
  await time.during(timers.pause(SECOND), 5 * SECOND)
  t.match(await read(), { status: 'completed' })
  const [, ranAt = 0] = begun.at(-1) ?? []
  t.ok(ranAt - retriedAt < SECOND, `${ranAt - retriedAt} ms after the retry`)
})

t.test('retry wakes no task that sleeps, asks, runs or has ended, and says why not', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(
    async (round, _, { subject = '' }) => await byName(round, subject), { isRequired: true, scopes: [] }
  )
  const { call, tasks: { operator } } = world.openReplica('only')
  const problems = {
    sleeps: /^sleeps until 2027-/,
    asks: /^waits for an answer of its user/,
    runs: /^runs, or is taken over/,
    ends: /^has ended: completed/
  }
  for (const [subject, problem] of Object.entries(problems)) {
    const taskId = await time.during(call({ scopes: new Set(), subject }), 5 * SECOND)
    await time.during(timers.pause(100), SECOND)
    const before = await time.during(operator.show(taskId), SECOND)
    t.match(await time.during(operator.retry(taskId), SECOND), { outcome: 'refused', problem })
    t.match(await time.during(operator.show(taskId), SECOND), {
      lastUpdatedAt: 'lastUpdatedAt' in Object(before) ? Object(before).lastUpdatedAt : ''
    })
  }
})

t.test('a task that all replicas leave is stuck after two leases, and says so', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => {
    await sleep(round, 20 * SECOND)
    return 'done'
  })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 5 * SECOND)
  await time.during(timers.pause(SECOND), 5 * SECOND)
  first.kill()
  const { operator } = world.openReplica('other release', { knows: false }).tasks
  const counts: number[] = []
  for (let count = 0; count < 30; count++) {
    const { left, overdue } = await time.during(operator.countStuck(), SECOND)
    t.equal(overdue, 0)
    counts.push(left)
    await time.during(timers.pause(2 * SECOND), 10 * SECOND)
  }
  t.strictSame(counts.slice(0, 20), Array(20).fill(0), 'not while it sleeps, and not at once')
  t.strictSame(counts.slice(22), Array(8).fill(1))
  t.match(await time.during(operator.show(taskId), SECOND), { waitsFor: 'sleep', left: 'unknown' })
  world.openReplica('the release with the tool')
  await time.during(timers.pause(3 * LEASE_MS), 1e6)
  t.match(await time.during(operator.countStuck(), SECOND), { left: 0, overdue: 0 })
  t.match(await time.during(operator.show(taskId), SECOND), { status: 'completed', left: undefined })
})

t.test('a task that no replica looks at is overdue', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => await byName(round, 'sleeps'))
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 5 * SECOND)
  await time.during(timers.pause(SECOND), 5 * SECOND)
  first.kill()
  const { operator } = world.openReplica('without tools for tasks', { isUsed: false }).tasks
  // Its first look, and then one in a minute, would take the entry: it stops taking any.
  const stopped = world.openReplica('stops')
  stopped.tasks.stopTaking()
  await world.dueTimes.set(`tasks-${ownerOf(ADA)}/${taskId}`, -3 * LEASE_MS, 99)
  t.match(await time.during(operator.countStuck(), SECOND), { overdue: 1, left: 0 })
  t.match(await time.during(operator.show(taskId), SECOND), { isOverdue: true })
})

t.test('a task that is due again and again is stuck only if nobody writes it', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async () => 'done')
  const { tasks } = world.openReplica('only')
  tasks.stopTaking()
  const count = async (generationOf: (look: number) => number) => {
    let stuck = 0
    for (let look = 0; look < 20; look++) {
      await world.dueTimes.set('tasks-anonymous/task_1', SECOND, generationOf(look))
      stuck = (await tasks.operator.countStuck()).left
      await time.during(timers.pause(2 * SECOND), 10 * SECOND)
    }
    return stuck
  }
  t.equal(await count((look) => look), 0)
  t.equal(await count(() => 20), 1)
  // A replica that looks at it holds it for a lease.
  await world.dueTimes.set('tasks-anonymous/task_1', LEASE_MS, 20)
  t.match(await tasks.operator.countStuck(), { left: 1 })
  await time.during(timers.pause(LEASE_MS), 2 * LEASE_MS)
  await world.dueTimes.set('tasks-anonymous/task_1', LEASE_MS, 21)
  t.match(await tasks.operator.countStuck(), { left: 0 })
})

t.test('tasks that run, sleep, ask and end are never stuck', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, _, { subject = '' }) => {
    for (let count = 0; count < 20; count++) {
      await round.once(`${count}`, async () => await timers.pause(3 * SECOND))
      if (subject === 'ada') await sleep(round, 7 * SECOND)
    }
    return 'done'
  })
  const [one, other] = [world.openReplica('one'), world.openReplica('other')]
  for (let count = 0; count < 10; count++) {
    await time.during(one.call(), 10 * SECOND)
    await time.during(other.call(BOB), 10 * SECOND)
  }
  for (let count = 0; count < 150; count++) {
    t.match(await time.during(one.tasks.operator.countStuck(), SECOND), { left: 0, overdue: 0 })
    await time.during(timers.pause(1700), 1e6)
  }
  t.equal((await listAll(other.tasks.operator, { status: 'completed' })).length, 20)
})

t.test('tasks of a catalog without tools for tasks expire, and their entries are removed', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => await byName(round, 'sleeps'), { ttlMs: 900 * SECOND })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 5 * SECOND)
  await time.during(timers.pause(SECOND), 5 * SECOND)
  first.kill()
  const next = world.openReplica('next', { knows: false, isUsed: false })
  await time.during(timers.pause(1000 * SECOND), 1e9)
  t.match(await time.during(next.tasks.operator.show(taskId), SECOND), { status: 'failed' })
  await time.during(timers.pause(4000 * SECOND), 1e9)
  t.strictSame((await world.dueTimes.list(undefined, 10)).entries, [])
})

t.test('a hundred thousand tasks are listed in pages of a second, and stall nobody', async (t) => {
  const world = openWorld(async () => 'done', { isRequired: true, scopes: [] })
  const { call, kill, tasks: { operator } } = world.openReplica('only')
  t.teardown(kill)
  for (let count = 0; count < 100_000; count++) {
    await world.dueTimes.set(`tasks-anonymous/task_${String(count).padStart(22, '0')}`, 3_600_000, 0)
  }
  const taskId = await call(ANONYMOUS)
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  const begunAt = performance.now()
  const page = await operator.list({ tool: 'tool' }, undefined, 100)
  const tookMs = performance.now() - begunAt
  // A fast machine reads all of them within the second of a page.
  t.ok(tookMs < 1000 || (page.nextCursor !== undefined && tookMs < 3000), `${tookMs} ms`)
  t.match(await operator.show(taskId), { status: 'completed' })
  t.match(await operator.countStuck(), { left: 0, overdue: 0 })
  clearInterval(timer)
  t.ok(longest < 500, `the longest stall: ${longest} ms`)
})

t.test('retry of an undo that has failed does the rest, also in code that was mended', async (t) => {
  const time = new VirtualTime(t)
  const notes: string[] = []
  let isMended = false
  const world = openWorld(async (round) => await byName(round, 'sleeps'), {
    isRequired: true,
    async undo (round) {
      const step = async (key: string, isOpen = true) => await round.once(key, () => {
        if (!isOpen) throw new Error('shut')
        notes.push(key)
        return key
      })
      if (isMended) await step('check')
      await step('tell', notes.includes('x')).catch(async () => await step('tell'))
      await step('by api', isMended).catch(async () => await step('by mail', false))
      return ''
    }
  })
  const { call, tasks: { operator } } = world.openReplica('only')
  const taskId = await time.during(call(), SECOND)
  await time.during(operator.cancel(taskId), SECOND)
  const outcome = async () => {
    await time.during(timers.pause(30 * SECOND), 60 * SECOND)
    const task = await time.during(operator.show(taskId), SECOND)
    return [task && 'undo' in task && task.undo, ...notes]
  }
  t.strictSame(await outcome(), ['failed', 'tell'])
  isMended = true
  t.match(await time.during(operator.retry(taskId), SECOND), { outcome: 'done', task: { undo: 'due' } })
  t.strictSame(await outcome(), ['done', 'tell', 'check', 'by api'], 'what was done is not done again')
})

t.test('retry of an undo goes the way that it went, and pauses where it paused', async (t) => {
  const time = new VirtualTime(t)
  const notes: string[] = []
  let isOpen = false
  const world = openWorld(async (round) => await byName(round, 'sleeps'), {
    isRequired: true,
    async undo (round) {
      const step = async (key: string, works: boolean) => await round.once(key, () => {
        if (!works) throw new Error('shut')
        notes.push(key)
      })
      await step('refund by api', isOpen).catch(async () => await step('refund by mail', true))
      for (let attempt = 1; ; attempt++) {
        try {
          await step('tell', isOpen && attempt === 2)
          return ''
        } catch (error) {
          if (attempt === 2) throw error
          await sleep(round, 100_000)
        }
      }
    }
  })
  const { call, tasks: { operator } } = world.openReplica('only')
  const taskId = await time.during(call(), SECOND)
  await time.during(operator.cancel(taskId), SECOND)
  await time.during(timers.pause(200 * SECOND), 300 * SECOND)
  isOpen = true
  t.match(await time.during(operator.retry(taskId), SECOND), { outcome: 'done' })
  await time.during(timers.pause(50 * SECOND), 60 * SECOND)
  t.match(await time.during(operator.show(taskId), SECOND), { undo: 'due', waitsFor: 'sleep' })
  await time.during(timers.pause(100 * SECOND), 200 * SECOND)
  t.match(await time.during(operator.show(taskId), SECOND), { undo: 'done' })
  t.strictSame(notes, ['refund by mail', 'tell'], 'the other refund is not done too')
})

t.test('retry hurries no undo that waits for its handler or sleeps', async (t) => {
  const time = new VirtualTime(t)
  const notes: string[] = []
  const world = openWorld(async (round) => {
    await round.once('slow', async () => {
      await timers.pause(LEASE_MS / 2)
      notes.push('done')
    })
    return ''
  }, {
    isRequired: true,
    async undo (round) {
      notes.push('undo')
      await sleep(round, 600_000)
      return ''
    }
  })
  const { call, tasks: { operator } } = world.openReplica('only')
  const taskId = await time.during(call(), SECOND)
  await time.during(operator.cancel(taskId), SECOND)
  const refused = { outcome: 'refused', problem: 'has ended: cancelled, and its work is to be undone' }
  t.match(await time.during(operator.retry(taskId), SECOND), refused)
  await time.during(timers.pause(3 * LEASE_MS), 4 * LEASE_MS)
  t.strictSame(notes, ['done', 'undo'])
  t.match(await time.during(operator.show(taskId), SECOND), { undo: 'due', waitsFor: 'sleep' })
  t.match(await time.during(operator.retry(taskId), SECOND), refused)
})

// Tasks among replicas that differ: in their secrets, their releases, their clocks, and in who uses them.

import t from 'tap'
import { ANONYMOUS, ownerOf, type Principal } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { ADA, LEASE_MS, openWorld, question } from './replicas.ts'

const sleep = async (round: InputRound, ms: number) => await round.sleep(ms, undefined, timers.pause)

t.test('a replica without the secret leaves a task to one that has it, and says so once', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 60_000)
    return replica
  })
  const [first, other] = [world.openReplica('first'), world.openReplica('other', { secret: 'another' })]
  const id = await time.during(first.call(), 1000)
  await time.during(timers.pause(100), 1000)
  first.kill()
  await time.during(timers.pause(120_000), 1e6)
  t.strictSame(other.warnings, [
    'a task was left to other replicas: TRIVET_SECRETS lacks the secret that sealed it'
  ])
  const third = world.openReplica('third')
  await time.during(timers.pause(4 * LEASE_MS), 1e6)
  const ended = await time.during(third.ask('tasks/get', { taskId: id }), 1000)
  t.match(ended, { status: 'completed', result: 'third' })
})

t.test('a release without the tool takes answers, and leaves the work to one that has it', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 2000)
    await round.ask({ go: question })
    return replica
  })
  const [first, old] = [world.openReplica('first'), world.openReplica('old', { knows: false })]
  const id = await time.during(first.call(), 1000)
  await time.during(timers.pause(3 * LEASE_MS), 1e6)
  t.match(await time.during(old.ask('tasks/get', { taskId: id }), 1000), { status: 'input_required' })
  first.kill()
  const inputResponses = { go: { action: 'accept', content: {} } }
  await time.during(old.ask('tasks/update', { taskId: id, inputResponses }), 1000)
  await time.during(timers.pause(3 * LEASE_MS), 1e6)
  t.match(await time.during(old.ask('tasks/get', { taskId: id }), 1000), { status: 'working' })
  const weaker = { ...ADA, scopes: new Set<string>() }
  const refused = old.ask('tasks/get', { taskId: id }, weaker)
  await t.rejects(refused, /Task not found/, 'the scopes of the tool hold here too')
  world.openReplica('next')
  await time.during(timers.pause(4 * LEASE_MS), 1e6)
  const ended = await time.during(old.ask('tasks/get', { taskId: id }), 1000)
  t.match(ended, { status: 'completed', result: 'next' })
})

t.test('clocks that are 90 s apart change neither sleeps nor time limits', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round) => {
    await sleep(round, 20_000)
    return 'awake'
  }, { ttlMs: 60_000 })
  // A replica that has just started has not asked the store for the time.
  for (const [creator, taker, servesSinceMs] of [
    [90_000, -90_000, 100], [-90_000, 90_000, 100], [90_000, -90_000, 0], [-90_000, 90_000, 0]
  ] as const) {
    const second = world.openReplica('second', { aheadMs: taker })
    await time.during(timers.pause(100), 1000)
    const first = world.openReplica('first', { aheadMs: creator })
    await time.during(timers.pause(servesSinceMs), 1000)
    const id = await time.during(first.call(), 1000)
    await time.during(timers.pause(100), 1000)
    first.kill()
    await time.during(timers.pause(19_000), 1e6)
    t.match(await time.during(second.ask('tasks/get', { taskId: id }), 1000), { status: 'working' })
    await time.during(timers.pause(12_000), 1e6)
    t.match(await time.during(second.ask('tasks/get', { taskId: id }), 1000), { status: 'completed' })
    second.kill()
  }
})

t.test('a task that ends its replica fails after five of them, after pauses that grow', async (t) => {
  const time = new VirtualTime(t)
  const kills: number[] = []
  const replicas = new Map<string, ReturnType<typeof world.openReplica>>()
  const world = openWorld(async (round, replica) => {
    await round.once('first', () => 1)
    await sleep(round, 2000)
    kills.push(time.now)
    replicas.get(replica)?.kill()
    return await new Promise<never>(() => {})
  })
  for (let number = 0; number < 8; number++) replicas.set(`r${number}`, world.openReplica(`r${number}`))
  const id = await time.during(replicas.get('r0')?.call() ?? Promise.resolve(''), 10_000)
  await time.during(timers.pause(20 * LEASE_MS), 1e6)
  const last = [...replicas.values()].find(({ isDead }) => !isDead)
  const task = await time.during(last?.ask('tasks/get', { taskId: id }) ?? Promise.resolve(undefined), 1000)
  t.match(task, { status: 'failed', error: { message: /5 replicas in a row were lost/ } })
  t.equal(kills.length, 5)
  const pauses = kills.slice(1).map((at, index) => at - (kills[index] ?? 0))
  t.ok((pauses[3] ?? 0) > (pauses[0] ?? 0) + 15_000, pauses.join())
})

t.test('the tasks of one principal leave room for those of others', async (t) => {
  const time = new VirtualTime(t)
  const running = new Map<string, number>()
  const world = openWorld(async (round, _, { subject = '' }) => {
    await sleep(round, 5000)
    running.set(subject, (running.get(subject) ?? 0) + 1)
    return subject === 'ada' ? await new Promise<never>(() => {}) : 'done'
  })
  const replica = world.openReplica('only')
  await time.during(Promise.all(Array.from({ length: 510 }, async () => await replica.call())), 60_000)
  const bob = { ...ADA, subject: 'bob' }
  const id = await time.during(replica.call(bob), 10_000)
  await time.during(timers.pause(6 * LEASE_MS), 1e6)
  t.equal(running.get('ada'), 500, 'half of what a replica runs')
  t.match(await time.during(replica.ask('tasks/get', { taskId: id }, bob), 1000), { status: 'completed' })
})

t.test('a rerun has the address of who began, and the scopes of who was last allowed to look', async (t) => {
  const time = new VirtualTime(t)
  const seen: Array<[string, readonly string[]]> = []
  const world = openWorld(async (round, replica, { scopes }) => {
    seen.push([replica, [...scopes]])
    await sleep(round, 60_000)
    return 'done'
  })
  const replica = world.openReplica('only')
  const id = await time.during(replica.call(), 1000)
  const stronger: Principal = { ...ADA, scopes: new Set(['books', 'more']) }
  await time.during(replica.ask('tasks/get', { taskId: id }, stronger), 1000)
  const weaker: Principal = { ...ADA, scopes: new Set() }
  await t.rejects(replica.ask('tasks/get', { taskId: id }, weaker), /Task not found/)
  await t.rejects(replica.ask('tasks/cancel', { taskId: id }, weaker), /Task not found/)
  await time.during(timers.pause(70_000), 1e6)
  t.strictSame(seen, [['only', ['books']], ['only', ['books', 'more']]])
})

t.test('the ended tasks of one address leave room for those of others', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async () => 'done', { isRequired: true, maxPerOwner: 20, scopes: [] })
  const replica = world.openReplica('only')
  const call = async (address: string) => (
    await time.during(replica.call(ANONYMOUS, address), 10_000).catch((error: Error) => error.message)
  )
  const begun: string[] = []
  for (let count = 0; count < 25; count++) {
    begun.push(await call('192.0.2.1'))
    await time.during(timers.pause(1000), 10_000)
  }
  t.equal(begun.filter((answer) => answer.startsWith('task_')).length, 20, 'a tenth of 200')
  t.match(begun.at(-1), /Too many tasks and results of tasks of your address \(20\)/)
  t.match(await call('192.0.2.2'), /^task_/)
})

t.test('a run whose lease was noticed late on its own replica keeps its lease', async (t) => {
  const time = new VirtualTime(t)
  const begun: string[] = []
  const world = openWorld(async (round, replica) => {
    await round.once('first', () => 1)
    begun.push(replica)
    await timers.pause(12 * LEASE_MS)
    return replica
  }, { isRequired: true })
  const first = world.openReplica('first')
  const id = await time.during(first.call(), 10_000)
  await time.during(timers.pause(100), 1000)
  const entry = `tasks-${ownerOf(ADA)}/${id}`
  await world.dueTimes.set(entry, 0, 1)
  first.tasks.look()
  await time.during(timers.pause(200), 10_000)
  const other = world.openReplica('other')
  await time.during(timers.pause(14 * LEASE_MS), 1e6)
  t.strictSame(begun, ['first'])
  t.strictSame(other.warnings, [])
  t.match(await time.during(other.ask('tasks/get', { taskId: id }), 1000), { result: 'first' })
})

t.test('answers at one replica leave room for the tasks of others', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, _, { subject }) => {
    if (subject === 'bob') {
      await sleep(round, 5000)
      return 'awake'
    }
    await sleep(round, 2000)
    await round.ask({ go: question })
    return await new Promise<never>(() => {})
  })
  const replica = world.openReplica('only')
  const calls = Array.from({ length: 510 }, async () => await replica.call())
  const ids = await time.during(Promise.all(calls), 60_000)
  await time.during(timers.pause(6 * LEASE_MS), 1e6)
  const inputResponses = { go: { action: 'accept', content: {} } }
  const updates = ids.map(async (taskId) => await replica.ask('tasks/update', { taskId, inputResponses }))
  await time.during(Promise.all(updates), 60_000)
  const bob = { ...ADA, subject: 'bob' }
  const id = await time.during(replica.call(bob), 10_000)
  await time.during(timers.pause(4 * LEASE_MS), 1e6)
  t.match(await time.during(replica.ask('tasks/get', { taskId: id }, bob), 1000), { status: 'completed' })
})

t.test('a rerun has the claims of who was last allowed to look', async (t) => {
  const time = new VirtualTime(t)
  const roles: unknown[] = []
  const world = openWorld(async (round, _, { claims }) => {
    roles.push(claims?.role)
    await sleep(round, 60_000)
    return 'done'
  })
  const replica = world.openReplica('only')
  const as = (role: string, jti: string): Principal => ({ ...ADA, claims: { role, jti } })
  const id = await time.during(replica.call(as('admin', '1')), 1000)
  const { operations } = replica
  await time.during(replica.ask('tasks/get', { taskId: id }, as('admin', '2')), 1000)
  t.equal(replica.operations, operations + 1, 'another token with the same claims is only a read')
  await time.during(replica.ask('tasks/get', { taskId: id }, as('guest', '3')), 1000)
  await time.during(timers.pause(70_000), 1e6)
  t.strictSame(roles, ['admin', 'guest'])
})

t.test('a replica that has missed a cancel stops the task when it learns that it may have', async (t) => {
  const time = new VirtualTime(t)
  for (const tells of [true, false]) {
    const steps: number[] = []
    const world = openWorld(async (round) => {
      for (let step = 0; step < 3; step++) {
        await round.once(String(step), () => { steps.push(step) })
        await timers.pause(LEASE_MS / 9)
      }
      return ''
    }, { isRequired: true })
    const [first, other] = [world.openReplica('first'), world.openReplica('other')]
    const taskId = await time.during(first.call(), 1000)
    world.losesEvents = true
    await time.during(other.ask('tasks/cancel', { taskId }), 1000)
    if (tells) await world.broadcast.publish({ type: 'events-missed' })
    await time.during(timers.pause(2 * LEASE_MS), 1e6)
    // A step that begins before learns it when its result is to be kept.
    t.strictSame(steps, tells ? [0] : [0, 1], tells ? 'told' : 'not told')
  }
})

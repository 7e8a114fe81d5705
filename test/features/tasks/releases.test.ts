// Tasks among releases that differ: in the code of their tools, and in the forms of their records.

import t from 'tap'
import { createApp } from '../../../src/app/app.ts'
import { ownerOf } from '../../../src/platform/access/principal.ts'
import { timers } from '../../../src/base/time.ts'
import { Lifetime } from '../../../src/request/pipeline/lifetime.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { writeByRename, writeCatalog } from '../../helpers/catalog-folder.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { ADA, LEASE_MS, openWorld, question } from './replicas.ts'
import { TaskClient, toFiles } from './task-client.ts'

/** Another code of the tool, which must not go on with tasks of the earlier one. */
const CHANGED = { code: 'changed', mayGoOnChanged: false }

const sleep = async (round: InputRound, ms: number) => await round.sleep(ms, undefined, timers.pause)

t.test('a task goes on in changed code, and the log says so once', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 60_000)
    await sleep(round, 60_000)
    return replica
  })
  const first = world.openReplica('first')
  const id = await time.during(first.call(), 1000)
  await time.during(timers.pause(100), 1000)
  first.kill()
  const next = world.openReplica('next', { code: 'changed' })
  await time.during(timers.pause(130_000), 1e6)
  const ended = await time.during(next.ask('tasks/get', { taskId: id }), 1000)
  t.match(ended, { status: 'completed', result: 'next' })
  t.strictSame(next.infos, ['a task goes on in changed code'])
})

t.test('with onDeploy: fail, changed code leaves a task to a replica with the earlier code', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 60_000)
    return replica
  })
  const first = world.openReplica('first')
  const id = await time.during(first.call(), 1000)
  await time.during(timers.pause(100), 1000)
  const next = ['one', 'two'].map((name) => world.openReplica(name, CHANGED))
  await time.during(timers.pause(60_000 + LEASE_MS), 1e6)
  const ended = await time.during(first.ask('tasks/get', { taskId: id }), 1000)
  t.match(ended, { status: 'completed', result: 'first' })
  for (const { infos } of next) t.strictSame(infos, [])
})

t.test('with onDeploy: fail, a task fails after two leases without a replica with its code', async (t) => {
  for (const isLost of [false, true]) {
    const time = new VirtualTime(t)
    const runs: string[] = []
    const world = openWorld(async (round, replica) => {
      runs.push(replica)
      if (isLost) return await new Promise<never>(() => {})
      await sleep(round, 60_000)
      return replica
    })
    const first = world.openReplica('first')
    const id = await time.during(first.call(), 10_000)
    await time.during(timers.pause(100), 1000)
    first.kill()
    const next = world.openReplica('next', CHANGED)
    const dueInMs = isLost ? LEASE_MS : 60_000
    await time.during(timers.pause(dueInMs + 1.9 * LEASE_MS), 1e6)
    t.match(await time.during(next.ask('tasks/get', { taskId: id }), 1000), { status: 'working' })
    await time.during(timers.pause(LEASE_MS), 1e6)
    const ended = await time.during(next.ask('tasks/get', { taskId: id }), 1000)
    t.match(ended, { status: 'failed', error: { message: /^The tool has changed since the task began/ } })
    t.strictSame(runs, ['first'])
    t.strictSame(new Set(next.warnings), new Set([
      ...isLost ? ['the replica of a task was lost'] : [],
      'a task was left to other replicas: its tool has changed here, and has onDeploy: fail',
      'task failed'
    ]))
  }
})

t.test('answers at changed code with onDeploy: fail wait for a replica with the earlier code', async (t) => {
  const time = new VirtualTime(t)
  const world = openWorld(async (round, replica) => {
    await sleep(round, 2000)
    await round.ask({ go: question })
    return replica
  })
  const first = world.openReplica('first')
  const id = await time.during(first.call(), 1000)
  await time.during(timers.pause(3 * LEASE_MS), 1e6)
  const next = world.openReplica('next', CHANGED)
  await time.during(timers.pause(3 * LEASE_MS), 1e6)
  const inputResponses = { go: { action: 'accept', content: {} } }
  await time.during(next.ask('tasks/update', { taskId: id, inputResponses }), 1000)
  await time.during(timers.pause(2 * LEASE_MS), 1e6)
  const ended = await time.during(next.ask('tasks/get', { taskId: id }), 1000)
  t.match(ended, { status: 'completed', result: 'first' })
})

t.test('a rollback in the middle of a rolling deploy loses nothing and doubles nothing', async (t) => {
  const time = new VirtualTime(t)
  const steps: string[] = []
  const world = openWorld(async (round, replica, { subject = '' }) => {
    await round.once('first', () => { steps.push(`${subject} first ${replica}`) })
    await sleep(round, 60_000)
    await round.once('second', () => { steps.push(`${subject} second ${replica}`) })
    await round.ask({ go: question })
    return replica
  })
  const bob = { ...ADA, subject: 'bob' }
  const [old, newer] = [world.openReplica('old'), world.openReplica('newer', { isNewer: true })]
  const ofOld = await time.during(old.call(), 1000)
  const ofNewer = await time.during(newer.call(bob), 1000)
  await time.during(timers.pause(100), 1000)
  // A newer release that tells the status to other rights leaves the record to the older one.
  const stronger = { ...ADA, scopes: new Set(['books', 'more']) }
  t.match(await time.during(newer.ask('tasks/get', { taskId: ofOld }, stronger), 1000), { status: 'working' })
  t.match(await time.during(old.ask('tasks/get', { taskId: ofOld }), 1000), { status: 'working' })
  // The rollback: only the older release is left.
  newer.kill()
  for (const [method, params] of [
    ['tasks/get', {}], ['tasks/cancel', {}], ['tasks/update', { inputResponses: {} }]
  ] as const) {
    const refused = time.during(old.ask(method, { taskId: ofNewer, ...params }, bob), 1000)
    await t.rejects(refused, { code: 503, message: /Try again/ }, method)
  }
  const finding = old.tasks.followers.findOwn({ principal: bob }, [ofNewer], new Lifetime())
  await t.rejects(finding, { code: 503 }, 'subscriptions/listen')
  const before = await world.store.peek({ owner: `tasks-${ownerOf(bob)}`, name: ofNewer })
  await time.during(timers.pause(90_000), 1e6)
  const after = await world.store.peek({ owner: `tasks-${ownerOf(bob)}`, name: ofNewer })
  t.equal(after?.version, before?.version, 'the older release does not write it')
  t.strictSame(old.warnings, ['a task was left to other replicas: a newer release wrote its record'])
  t.ok(old.tasks.counts.left.newer > 1)
  t.match(await time.during(old.ask('tasks/get', { taskId: ofOld }), 1000), { status: 'input_required' })
  // The deploy again.
  const again = world.openReplica('again', { isNewer: true })
  await time.during(timers.pause(4 * LEASE_MS), 1e6)
  const inputResponses = { go: { action: 'accept', content: {} } }
  for (const [taskId, caller] of [[ofOld, ADA], [ofNewer, bob]] as const) {
    t.match(await time.during(again.ask('tasks/get', { taskId }, caller), 1000), { status: 'input_required' })
    await time.during(again.ask('tasks/update', { taskId, inputResponses }, caller), 1000)
    await time.during(timers.pause(100), 1000)
    t.match(await time.during(again.ask('tasks/get', { taskId }, caller), 1000), { result: 'again' })
  }
  t.strictSame(steps.toSorted(), ['ada first old', 'ada second old', 'bob first newer', 'bob second again'])
})

t.test('an older release whose run a newer one has taken over stops it, and writes nothing', async (t) => {
  const time = new VirtualTime(t)
  const steps: string[] = []
  const world = openWorld(async (round, replica) => {
    await round.once('first', () => 1)
    await timers.pause(5 * LEASE_MS)
    await round.once('second', () => { steps.push(replica) })
    return replica
  }, { isRequired: true })
  const old = world.openReplica('old')
  const id = await time.during(old.call(), 10_000)
  old.fail(0, 'paused')
  const newer = world.openReplica('newer', { isNewer: true })
  await time.during(timers.pause(20 * LEASE_MS), 1e6)
  const ended = await time.during(newer.ask('tasks/get', { taskId: id }), 1000)
  t.match(ended, { status: 'completed', result: 'newer' })
  t.strictSame(steps, ['newer'])
  t.strictSame(old.warnings, [])
  const unread = { taskId: id, left: 'newer' }
  const { operator } = old.tasks
  t.strictSame((await time.during(operator.list({}, undefined, 10), 1000)).tasks, [unread])
  for (const change of ['cancel', 'retry', 'record'] as const) {
    const { outcome, problem } = await time.during(
      operator[change](id, { trivet: '1.0.0', hasValues: false }), 1000
    )
    t.match([outcome, problem], ['refused', /newer release/])
  }
})

t.test('a service that reloads its catalog goes on with changed tools, or fails their tasks', async (t) => {
  const run = (text: string) => `async (_, ctx) => { await ctx.sleep(3000); return '${text}' }`
  const tools = (text: string) => toFiles({
    resumes: ["task: 'allowed'", run(text)],
    fails: ["task: 'allowed', onDeploy: 'fail'", run(text)]
  })
  const catalog = await writeCatalog(t, tools('old'))
  const constants = { taskGraceMs: 50 }
  const app = await createApp({ catalog, ...QUIET, watch: 'on', taskLeaseMs: 500, constants })
  t.teardown(async () => await app.close())
  const client = new TaskClient(app)
  const [{ taskId: resumes }, { taskId: fails }] = [await client.call('resumes'), await client.call('fails')]
  for (const [path, text] of Object.entries(tools('new'))) await writeByRename(catalog, path, text)
  t.match((await client.until(resumes, 'completed', 9000)).result, { content: [{ text: 'new' }] })
  t.match(await client.until(fails, 'failed', 9000), { error: { code: -32603, message: /^The tool has changed/ } })
})

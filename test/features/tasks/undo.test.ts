// What a tool undoes after its task has ended without success.

import t, { type Test } from 'tap'
import { timers } from '../../../src/base/time.ts'
import { createReadableLog } from '../../helpers/log.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import type { ChangeEvent } from '../../../src/platform/store/changes/change-event.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { LEASE_MS, openWorld, question, type Fault, type Script } from './replicas.ts'
import { serveInVirtualTime, serveTools, TaskClient } from './task-client.ts'

/** What handlers and `undo` did, in this process. */
const notes: string[] = []
Object.assign(globalThis, { undoNotes: notes, undoPause: timers.pause })
t.beforeEach(() => { notes.length = 0 })

/** Serves one tool with these bodies, and begins its task. */
async function serveTask (t: Test, run: string, undo: string) {
  const log = createReadableLog('info')
  const { app, time } = await serveInVirtualTime(t, {
    orders: [`task: 'required', inputSchema: { type: 'object', properties: { sku: { type: 'string' } } },
      async undo ({ sku }, ctx) { const note = (text) => globalThis.undoNotes.push(text); ${undo} }`,
    `async ({ sku }, ctx) => { const note = (text) => globalThis.undoNotes.push(text); ${run} }`]
  }, { logger: log.logger, taskLeaseMs: 1000 })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('orders', { sku: 'whale' })
  return { log, client, taskId, time }
}

const SLEEPS = "await ctx.once('order', () => { note('ordered'); return 7 }); await ctx.sleep(600_000)"

t.test('a task that was cancelled while it slept is undone, and its status never changes', async (t) => {
  const { log, client, taskId, time } = await serveTask(t, SLEEPS, `
    const order = ctx.resultOf('order')
    await ctx.step('cancel', () => note('cancelled ' + sku + ' ' + order + ' ' + ctx.resultOf('other')))
    await ctx.sleep(1000)
    await ctx.once('tell', () => note('told'))`)
  await client.cancel(taskId)
  const cancelled = await client.get(taskId)
  t.equal(cancelled.status, 'cancelled')
  await time.until(() => notes.includes('told'), 'the undo')
  await time.until(() => log.text().includes('the work of a task was undone'), 'the line in the log')
  t.strictSame(notes, ['ordered', 'cancelled whale 7 undefined', 'told'])
  t.strictSame(await client.get(taskId), cancelled, 'the client sees nothing of it')
})

t.test('a task that has failed is undone at once', async (t) => {
  const { client, taskId, time } = await serveTask(t, `
    await ctx.once('order', () => { note('ordered') }); throw new Error('the stock is gone')`, "note('undone')")
  await client.until(taskId, 'failed')
  await time.until(() => notes.includes('undone'), 'the undo')
  t.strictSame(notes, ['ordered', 'undone'])
})

const ORDER = "await ctx.once('order', () => { note('ordered') });"
const FAILED = "{ content: [{ type: 'text', text: 'Sold out.' }], isError: true }"

/** How the run of a task ends. */
type End = readonly [what: string, run: string, status: string, isUndone: boolean]

const ENDS: readonly End[] = [
  ['a tool error', "throw new ToolError('Sold out.')", 'completed', true],
  ['a tool error after a sleep', "await ctx.sleep(1000); throw new ToolError('No.')", 'completed', true],
  ['a failed step', "await ctx.step('pay', () => { throw new ToolError('No.') })", 'completed', true],
  ['a result that says that it is an error', `return ${FAILED}`, 'completed', true],
  ['the same from a toolResult', `return toolResult(${FAILED})`, 'completed', true],
  ['an error', "throw new Error('the stock is gone')", 'failed', true],
  ['an output that is no JSON', 'return { count: 1n }', 'failed', true],
  ['a sleep beyond its time limit', 'await ctx.sleep(7_200_000)', 'failed', true],
  ['a result that is too large', "return 'x'.repeat(1_100_000)", 'failed', true],
  ['a result', 'return { isError: false }', 'completed', false],
  ['a result with the word of an error', 'return { order: { isError: true } }', 'completed', false]
]

for (const [what, run, status, isUndone] of ENDS) {
  t.test(`work whose task ends with ${what} is ${isUndone ? '' : 'not '}undone`, async (t) => {
    const { client, taskId, time } = await serveTask(t, `${ORDER} ${run}`, "note('undone')")
    const ended = await client.until(taskId, status)
    if (isUndone) await time.until(() => notes.includes('undone'), 'the undo')
    else await time.during(timers.pause(300), 300)
    t.strictSame(notes, isUndone ? ['ordered', 'undone'] : ['ordered'])
    t.strictSame(await client.get(taskId), ended, 'the client sees nothing of it')
  })
}

t.test('a handler that returns an error waits for its steps, so that undo has their results', async (t) => {
  const { client, taskId, time } = await serveTask(t, `
    ctx.step('flight', async () => {
      await globalThis.undoPause(400)
      note('booked')
      return 'F1'
    })
    await ctx.once('hotel', () => 'full')
    return ${FAILED}`, "note('cancelled ' + ctx.resultOf('flight'))")
  await client.until(taskId, 'completed')
  await time.until(() => notes.length > 1, 'the undo')
  t.strictSame(notes, ['booked', 'cancelled F1'])
})

t.test('undo waits until the replica that runs the handler has learnt of the cancel', async (t) => {
  const { client, taskId, time } = await serveTask(t, `
    await ctx.once('order', () => { note('ordered') })
    await new Promise((done) => ctx.signal.addEventListener('abort', done))
    await globalThis.undoPause(200)
    await ctx.once('late', () => { note('never') }).catch(() => note('stopped'))`, "note('undone')")
  await time.until(() => notes.includes('ordered'), 'the step')
  await client.cancel(taskId)
  await time.until(() => notes.includes('undone'), 'the undo')
  t.strictSame(notes, ['ordered', 'stopped', 'undone'])
})

t.test('an undo that fails is in the log, and not told to the client', async (t) => {
  const { log, client, taskId, time } = await serveTask(t, SLEEPS, `
    await ctx.ask({ go: elicit.form({ message: 'Go?', schema: { type: 'object', properties: {} } }) })
      .catch((error) => note(error.message))
    await ctx.step('cancel', { retries: 1, backoffMs: 1 }, () => { note('tried'); throw new Error('desk: shut') })`)
  await client.cancel(taskId)
  await time.until(() => log.text().includes('the work of a task was not undone'), 'the line in the log')
  const refusal = 'ask: nobody is there to answer while the work of a task is undone'
  t.strictSame(notes, ['ordered', refusal, 'tried', 'tried'])
  t.match(log.text(), /desk: shut/)
  t.notMatch(JSON.stringify(await client.get(taskId)), /desk/)
})

t.test('a handler that fails waits for its steps, so that undo has their results', async (t) => {
  const { client, taskId, time } = await serveTask(t, `
    await Promise.all([
      ctx.step('hotel', () => { throw new Error('full') }),
      ctx.step('flight', async () => {
        await globalThis.undoPause(400)
        note('booked')
        return 'F1'
      })
    ])`, `
    await Promise.all([
      ctx.step('shut', () => { throw new Error('shut') }),
      ctx.step('cancel', async () => {
        await globalThis.undoPause(400)
        note('cancelled ' + ctx.resultOf('flight'))
      })
    ])`)
  await client.until(taskId, 'failed')
  t.strictSame(notes, ['booked'])
  await time.until(() => notes.length > 1, 'the undo')
  t.strictSame(notes, ['booked', 'cancelled F1'])
})

t.test('undo counts as a task that has not ended', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    orders: [
      "task: 'required', undo: async (_, ctx) => { await ctx.sleep(1500) }",
      'async (_, ctx) => { await ctx.sleep(600_000) }'
    ]
  }, { maxTasksPerCaller: 1 })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('orders')
  await client.cancel(taskId)
  t.match(await client.call('orders'), { isError: true, content: [{ text: /Too many unfinished tasks/ }] })
  await time.until(async () => (await client.call('orders')).taskId !== undefined, 'a place')
})

t.test('undo counts until it has ended, also after the time limit of the task', async (t) => {
  const time = new VirtualTime(t)
  const sleep = async (round: InputRound, ms: number) => await round.sleep(ms, undefined, timers.pause)
  const world = openWorld(async (round) => { await sleep(round, 50_000); return '' }, {
    isRequired: true,
    ttlMs: 60_000,
    maxPerOwner: 1,
    undo: async (round) => { await sleep(round, 600_000); return '' }
  })
  const { call, ask } = world.openReplica('only')
  const taskId = await time.during(call(), 1000)
  await time.during(ask('tasks/cancel', { taskId }), 1000)
  await time.during(timers.pause(300_000), 400_000)
  await t.rejects(time.during(call(), 1000), /Too many unfinished tasks/)
  await time.during(timers.pause(400_000), 500_000)
  t.type(await time.during(call(), 1000), 'string')
})

t.test('undo needs task', async (t) => {
  await t.rejects(serveTools(t, { orders: ['undo: () => {}', '() => 1'] }), /undo.*task/)
  await t.rejects(serveTools(t, { orders: ["task: 'allowed', undo: 'x'", '() => 1'] }), /undo: must be a func/)
})

const FAULTS: readonly Fault[] = ['killed-before', 'killed-after', 'lost', 'refused', 'paused']
/** More than the operations of the store in a cancel and the undo after it. */
const OPERATIONS = 24

for (const fault of FAULTS) {
  t.test(`${fault}, at each operation of an undo with a step, a sleep and a step`, async (t) => {
    const time = new VirtualTime(t)
    for (let at = 0; at < OPERATIONS; at++) {
      const results: string[][] = []
      const undo: Script = async (round, replica) => {
        const step = async (key: string) => await round.once(key, async () => {
          await timers.pause(10)
          return `${key} by ${replica} ${Math.floor(time.now)}`
        })
        const first = await step('one')
        await round.sleep(60_000, undefined, timers.pause)
        results.push([first, await step('two')])
        return ''
      }
      const world = openWorld(async (round) => {
        await round.once('begin', () => 1)
        await round.ask({ go: question })
        return 'never'
      }, { isRequired: true, undo })
      const [first, second] = [world.openReplica('first'), world.openReplica('second')]
      const id = await time.during(first.call(), 1e6)
      first.fail(at, fault)
      await time.during(Promise.race([
        first.ask('tasks/cancel', { taskId: id }).catch(() => {}), timers.pause(5000)
      ]), 1e6)
      await time.during(second.ask('tasks/cancel', { taskId: id }), 1e6)
      for (let looks = 0; looks < 50 && results.length === 0; looks++) {
        await time.during(timers.pause(5000), 1e6)
      }
      t.ok(results.length >= 1, `operation ${at}: undo has ended`)
      t.equal(new Set(results.map(([one]) => one)).size, 1, `operation ${at}: one result of the first step`)
      t.match(await time.during(second.ask('tasks/get', { taskId: id }), 1e6), { status: 'cancelled' })
      for (const { kill } of [first, second]) kill()
      time.stopTimers()
    }
  })
}

t.test('an undo is not stopped by the late news of what came before it', async (t) => {
  const time = new VirtualTime(t)
  const undone: string[] = []
  const world = openWorld(async (round) => {
    await round.sleep(60_000, undefined, timers.pause)
    return 'not undone'
  }, {
    async undo (_, replica) {
      undone.push(replica)
      await timers.pause(2 * LEASE_MS)
      return 'undone'
    }
  })
  const events: ChangeEvent[] = []
  const end = world.broadcast.subscribe((event) => { events.push(event) })
  const first = world.openReplica('first')
  const taskId = await time.during(first.call(), 10_000)
  await time.during(first.ask('tasks/cancel', { taskId }), 10_000)
  await time.during(timers.pause(LEASE_MS / 2), LEASE_MS)
  t.strictSame(undone, ['first'])
  end()
  for (const event of events) await world.broadcast.publish(event)
  await time.during(timers.pause(4 * LEASE_MS), 1e6)
  t.match(await time.during(first.tasks.operator.show(taskId), 1000), { undo: 'done' })
  t.strictSame(undone, ['first'])
})

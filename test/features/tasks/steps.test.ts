// The steps, the progress and the sleeps of tasks, at their edges.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { named, serveInVirtualTime, serveTools, TaskClient } from './task-client.ts'

/** What the tools of the tests note, in this process. They have `taskPause` too. */
const notes: Record<string, unknown[]> = {}
Object.assign(globalThis, { taskNotes: notes, taskPause: timers.pause })
const NOTE = 'const note = (key, value) => (globalThis.taskNotes[key] ??= []).push(value);'

const ALLOWED = "task: 'allowed'"
const REQUIRED = "task: 'required'"
const SLEEP = 'async (_, ctx) => { await ctx.sleep(60_000) }'

t.beforeEach(() => { for (const key of Object.keys(notes)) delete notes[key] })

t.test('no step begins after the task was cancelled, though its handler goes on', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    stubborn: [ALLOWED, `async (_, ctx) => { ${NOTE}
      await ctx.once('early', () => note('steps', 'early'))
      await taskPause(1500)
      for (const key of ['late', 'later']) {
        await ctx.once(key, () => note('steps', key)).catch((error) => note('errors', error.name))
      }
      await ctx.step('last', {}, () => note('steps', 'last')).catch((error) => note('errors', error.name))
      note('over', true) }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('stubborn')
  await client.cancel(taskId)
  await time.until(() => notes.over !== undefined, 'the end of the handler')
  t.strictSame(notes.steps, ['early'])
  t.strictSame(notes.errors, ['AbortError', 'AbortError', 'AbortError'])
})

t.test('a call that must be a task does no step before the task is kept', async (t) => {
  const app = await serveTools(t, {
    orders: [REQUIRED, `async (_, ctx) => { ${NOTE}
      await Promise.all(['one', 'two'].map((key) => ctx.once(key, () => note('orders', key)))) }`],
    sleeps: [ALLOWED, SLEEP]
  }, { maxTasksPerCaller: 1, ...named })
  const client = new TaskClient(app, { user: 'ada' })
  await client.call('sleeps')
  t.match(await client.call('orders'), { isError: true, content: [{ text: /Too many unfinished tasks/ }] })
  t.equal(notes.orders, undefined)
  const other = new TaskClient(app, { user: 'bob' })
  const { taskId } = await other.call('orders')
  await other.until(taskId, 'completed')
  t.strictSame(notes.orders, ['one', 'two'])
})

t.test('a task whose arguments its tool refuses now and then is left with pauses', async (t) => {
  const log = createReadableLog()
  const { app, time } = await serveInVirtualTime(t, {
    // A schema of another library, whose verdicts alternate.
    fickle: [`${ALLOWED}, inputSchema: { '~standard': {
      version: 1,
      vendor: 'fickle',
      validate: (value) => ++globalThis.taskChecks % 2 === 1 ? { value } : { issues: [{ message: 'No.' }] },
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({}) }
    } }`, 'async (_, ctx) => { await ctx.sleep(8000) }']
  }, { logger: log.logger })
  const client = new TaskClient(app, { time })
  Object.assign(globalThis, { taskChecks: 0 })
  const { taskId } = await client.call('fickle')
  // The verdict of the look is good, that of the run is not.
  Object.assign(globalThis, { taskChecks: 0 })
  await time.during(timers.pause(120_000), 200_000)
  const runs = log.lines.filter(({ outcome }) => outcome === 'cancelled')
  t.ok(runs.length > 2 && runs.length < 60, `${runs.length} runs in two minutes`)
  t.match(await client.get(taskId), { status: 'working' })
  t.match(log.text(), /"name":"fickle","msg":"a task was left to other replicas: [^"]*refuses its arguments"/)
})

t.test('progress from before the task is its first status message', async (t) => {
  const client = new TaskClient(await serveTools(t, {
    reports: [ALLOWED, "async (_, ctx) => { ctx.progress(1, 3, 'Looking'); await ctx.sleep(60_000) }"]
  }))
  const created = await client.call('reports')
  t.match(created, { resultType: 'task', statusMessage: 'Looking' })
  t.match(await client.get(created.taskId), { statusMessage: 'Looking' })
})

t.test('a sleep may be as long as the longest time limit', async (t) => {
  const client = new TaskClient(await serveTools(t, {
    naps: [`${ALLOWED}, ttlMs: 2_592_000_000`, 'async (_, ctx) => { await ctx.sleep(2_500_000_000) }']
  }))
  const { taskId } = await client.call('naps')
  t.match(await client.get(taskId), { status: 'working', pollIntervalMs: 30_000 })
})

t.test('an answer does not end the sleep beside its question', async (t) => {
  const client = new TaskClient(await serveTools(t, {
    both: [ALLOWED, `async (_, ctx) => { await Promise.all([
      ctx.ask({ go: elicit.form({ message: 'Go on?', schema: { type: 'object', properties: {} } }) }),
      ctx.sleep(600_000)]) }`]
  }))
  const { taskId } = await client.call('both')
  await client.until(taskId, 'input_required')
  await client.update(taskId, { go: { action: 'accept', content: {} } })
  await pause(300)
  t.match(await client.get(taskId), { status: 'working', pollIntervalMs: 30_000 })
})

t.test('a call that could not become a task says so when it sleeps', async (t) => {
  const client = new TaskClient(await serveTools(t, {
    sleeps: [ALLOWED, SLEEP],
    later: [ALLOWED, `async (_, ctx) => {
      await new Promise((done) => setTimeout(done, 200)); await ctx.sleep(60_000) }`]
  }, { maxTasksPerCaller: 1, ...named }), { user: 'ada' })
  await client.call('sleeps')
  t.match(await client.call('later'), { isError: true, content: [{ text: /Too many unfinished tasks/ }] })
})

t.test('a rejection that the handler does not wait for is no error of the process', async (t) => {
  const rejections: unknown[] = []
  const note = (error: unknown) => { rejections.push(error) }
  process.on('unhandledRejection', note)
  t.teardown(() => { process.off('unhandledRejection', note) })
  const client = new TaskClient(await serveTools(t, {
    leaves: ['', `async (_, ctx) => {
      ctx.once('a', async () => { await null; throw new Error('later') }); throw new ToolError('now') }`]
  }))
  t.match(await client.call('leaves'), { isError: true, content: [{ text: 'now' }] })
  await pause(20)
  t.strictSame(rejections, [])
})

t.test('progress with a message that is no text does not fail the call', async (t) => {
  const client = new TaskClient(await serveTools(t, {
    odd: [ALLOWED, "(_, ctx) => { ctx.progress(1, 2, 42); return 'fine' }"]
  }))
  t.match(await client.call('odd'), { content: [{ text: 'fine' }] })
})

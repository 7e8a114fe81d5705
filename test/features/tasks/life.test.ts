// The life of a task: its steps, questions, progress, cancellation and end.
// https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md

import { createHook } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { timers } from '../../../src/base/time.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { named, serveInVirtualTime, serveTools, TaskClient, TASKS } from './task-client.ts'

/** What the tools of the tests note, in this process. They have `taskPause` too. */
const notes: Record<string, unknown[]> = {}
Object.assign(globalThis, { taskNotes: notes, taskPause: timers.pause })
const NOTE = 'const note = (key, value) => (globalThis.taskNotes[key] ??= []).push(value);'

const ALLOWED = "task: 'allowed'"
const REQUIRED = "task: 'required'"
const FORM = "elicit.form({ message: 'Who?', schema: { type: 'object', " +
  "properties: { name: { type: 'string' } }, required: ['name'] } })"
const SLEEP = 'async (_, ctx) => { await ctx.sleep(60_000) }'
const accept = (name: unknown) => ({ action: 'accept', content: { name } })

t.beforeEach(() => { for (const key of Object.keys(notes)) delete notes[key] })

t.test('a task belongs to its caller: to all others it does not exist', async (t) => {
  const { app, time } = await serveInVirtualTime(t, { sleeps: [ALLOWED, SLEEP] }, named)
  const { taskId } = await new TaskClient(app, { time, user: 'ada' }).call('sleeps')
  const bob = new TaskClient(app, { time, user: 'bob' })
  const unknown = await bob.get('task_0000000000000000000000')
  t.match(unknown, { code: -32602, message: /Task not found/ })
  for (const id of [taskId, 'nonsense', '', '../x', `${taskId}x`]) {
    t.strictSame(await bob.get(id), unknown, id)
    t.strictSame(await bob.update(id, {}), unknown, id)
    t.strictSame(await bob.cancel(id), unknown, id)
  }
  t.match(await new TaskClient(app, { time, user: 'ada' }).get(taskId), { status: 'working' })
})

t.test('the header Mcp-Name must be the id of the task', async (t) => {
  const { app, time } = await serveInVirtualTime(t, { sleeps: [ALLOWED, SLEEP] })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('sleeps')
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const { status, response } = await client.send(method, { taskId, inputResponses: {}, name: 'other' })
    t.strictSame([status, response.error.code], [400, -32020], method)
  }
})

t.test('a sleep ends the handler, and its steps are not repeated when it runs again', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    naps: [ALLOWED, `async (_, ctx) => { ${NOTE} note('runs', 1)
      const first = await ctx.once('first', () => { note('first', 1); return 'one' })
      await ctx.sleep(1000)
      const second = await ctx.step('second', {}, () => { note('second', 1); return 'two' })
      await ctx.sleep(1100)
      return first + second + await ctx.once('nothing', () => {}) }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('naps')
  t.match((await client.until(taskId, 'completed')).result, { content: [{ text: 'onetwoundefined' }] })
  t.strictSame(notes, { runs: [1, 1, 1], first: [1], second: [1] })
})

t.test('a task asks, takes answers one by one, and ignores all others', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    asks: [ALLOWED, `async (_, ctx) => { ${NOTE} await ctx.sleep(1000); note('runs', 1)
      const { one, two } = await ctx.ask({ one: ${FORM}, two: ${FORM} })
      return one.content.name + two.content.name }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('asks')
  const asked = await client.until(taskId, 'input_required')
  t.strictSame(Object.keys(asked.inputRequests), ['one', 'two'])
  await client.update(taskId, { three: accept('x'), __proto__: accept('x') })
  t.strictSame(Object.keys((await client.get(taskId)).inputRequests), ['one', 'two'])
  await client.update(taskId, { two: accept('B') })
  t.strictSame(Object.keys((await client.get(taskId)).inputRequests), ['one'], 'and is not run meanwhile')
  await client.update(taskId, { two: accept('C') })
  t.strictSame(notes.runs, [1])
  await client.update(taskId, { one: accept('A') })
  t.match((await client.until(taskId, 'completed')).result, { content: [{ text: 'AB' }] })
  t.strictSame(Object.keys(await client.update(taskId, { one: accept('Z') })), ['resultType', '_meta'])
})

t.test('a question whose answer does not fit is asked again, and under a new key', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    asks: [ALLOWED, `async (_, ctx) => { await ctx.sleep(1000)
      const { one } = await ctx.ask({ one: ${FORM} })
      return one.content.name }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('asks')
  const shown: string[] = []
  for (const answer of [7, {}, 'Ada']) {
    const { inputRequests } = await client.until(taskId, 'input_required')
    t.equal(Object.keys(inputRequests).length, 1)
    shown.push(...Object.keys(inputRequests))
    await client.update(taskId, { [shown.at(-1) ?? '']: accept(answer) })
  }
  t.match((await client.until(taskId, 'completed')).result, { content: [{ text: 'Ada' }] })
  t.equal(new Set(shown).size, 3, shown.join())
})

t.test('a question that the client cannot answer ends the task with the error', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    asks: [ALLOWED, `async (_, ctx) => { await ctx.sleep(1000); await ctx.ask({ one: ${FORM} }) }`]
  })
  const client = new TaskClient(app, { time, capabilities: TASKS })
  const { taskId } = await client.call('asks')
  t.match(await client.until(taskId, 'failed'), { error: { code: -32021 } })
})

t.test('progress becomes the status message', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    works: [ALLOWED, `async (_, ctx) => {
      await taskPause(200); ctx.progress(1, 3, 'packing')
      await taskPause(1200); ctx.progress(2, 3)
      await taskPause(5000) }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('works')
  await time.until(async () => (await client.get(taskId)).statusMessage === 'packing', 'the message')
  await time.until(async () => (await client.get(taskId)).statusMessage === '2 of 3', 'the numbers')
  await client.cancel(taskId)
})

t.test('a cancelled task is so at once, its signal aborts, and it stays cancelled', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    works: [ALLOWED, `async (_, ctx) => { ${NOTE} const { signal } = ctx
      await new Promise((done) => signal.addEventListener('abort', done)); note('aborted', signal.reason.name)
      await ctx.once('late', () => 1).catch((error) => note('late', error.name))
      return 'done all the same' }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('works')
  t.strictSame(Object.keys(await client.cancel(taskId)), ['resultType', '_meta'])
  t.match(await client.get(taskId), { status: 'cancelled' })
  await time.until(() => notes.late !== undefined, 'the handler to end')
  t.strictSame(notes, { aborted: ['AbortError'], late: ['AbortError'] })
  await time.during(timers.pause(20), 20)
  t.match(await client.get(taskId), { status: 'cancelled' })
  t.match(await client.cancel(taskId), { resultType: 'complete' }, 'again')
})

t.test('a task goes on when its client has left', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    works: [REQUIRED, 'async () => { await taskPause(300); return "done" }']
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('works')
  t.match((await client.until(taskId, 'completed')).result, { content: [{ text: 'done' }] })
})

t.test('a task that takes longer than ttlMs fails, whether it runs or waits', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    runs: [`${ALLOWED}, ttlMs: 1000`, '() => new Promise(() => {})'],
    asks: [`${ALLOWED}, ttlMs: 1400`, `async (_, ctx) => {
      await ctx.sleep(1000); await ctx.ask({ one: ${FORM} }) }`]
  })
  const client = new TaskClient(app, { time })
  const begun = await Promise.all(['runs', 'asks'].map(async (name) => await client.call(name)))
  for (const { taskId } of begun) {
    const { error } = await client.until(taskId, 'failed')
    t.match(error, { code: -32603, message: /did not end within 1.00 ms/ })
  }
})

t.test('a sleep that would end after ttlMs is refused', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    sleeps: [`${ALLOWED}, ttlMs: 2000`, `async (_, ctx) => {
      await ctx.sleep(1000); return await ctx.sleep(1500).catch((error) => error.message) }`]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('sleeps')
  const { result } = await client.until(taskId, 'completed')
  t.match(result.content, [{ text: 'sleep: would end after the time limit of the task, 2000 ms (ttlMs)' }])
})

t.test('a task outlives timeoutMs, which limits ordinary calls', async (t) => {
  const works = 'async () => { await taskPause(600); return "done" }'
  const { app, time } = await serveInVirtualTime(t, {
    works: [`${ALLOWED}, timeoutMs: 300`, works],
    ordinary: ['timeoutMs: 300', works]
  })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('works')
  await client.until(taskId, 'completed')
  const other = new TaskClient(app, { time, capabilities: {} })
  t.match(await other.call('works'), { content: [{ text: 'done' }] })
  t.match(await other.call('ordinary'), { isError: true, content: [{ text: /did not finish within 300 ms/ }] })
})

t.test('what one task keeps is bounded, and the log says the limit', async (t) => {
  const log = createReadableLog()
  const { app, time } = await serveInVirtualTime(t, {
    keeps: [REQUIRED, `async (_, ctx) => {
      for (let i = 0; i < 9; i++) await ctx.once('k' + i, async () => {
        await taskPause(20); return 'x'.repeat(50_000) }) }`],
    hurries: [ALLOWED, `async (_, ctx) => {
      await ctx.once("k", () => "x".repeat(300_000)); await ctx.sleep(60_000) }`],
    returns: [REQUIRED, '() => "x".repeat(1_100_000)'],
    asks: [ALLOWED, `async (_, ctx) => { await ctx.sleep(1000); await ctx.ask({ one: ${FORM} }) }`]
  }, { logger: log.logger, constants: { taskGraceMs: 0 } })
  const client = new TaskClient(app, { time })
  const { taskId: asking } = await client.call('asks')
  const { taskId: keeps } = await client.call('keeps')
  t.match(await client.until(keeps, 'failed'), { error: { message: 'Internal error' } })
  const { taskId: hurries } = await client.call('hurries')
  t.match(await client.until(hurries, 'failed'), { error: { code: -32603 } }, 'also by the first step')
  const { taskId: returns } = await client.call('returns')
  t.match(await client.until(returns, 'failed'), { error: { message: /result of a task may have 1048576 bytes/ } })
  t.match(log.text(), /would take 3\d{5} bytes of JSON. The limit of a task is 262144/)
  await client.until(asking, 'input_required')
  t.match(
    await client.update(asking, { one: accept('x'.repeat(300_000)) }),
    { code: 413, message: /may take 262144 bytes/ }
  )
  t.match(await client.get(asking), { status: 'input_required' })
})

t.test('a step is tried again, within its time, and its last error is that of the step', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    retries: [ALLOWED, `async (_, ctx) => { ${NOTE}
      const flaky = await ctx.step('flaky', { retries: 3, backoffMs: 10 }, () => {
        note('flaky', 1); if (taskNotes.flaky.length < 3) throw new Error('not yet'); return 'ok' })
      const late = await ctx.step('late', { timeoutMs: 20 }, (signal) => new Promise((_, reject) => {
        signal.addEventListener('abort', () => note('aborted', signal.reason.message)) })).catch((error) => error.name)
      const refused = await ctx.step('refused', { retries: 3 }, () => { note('refused', 1); throw new ToolError('No.') })
        .catch((error) => error.message)
      const odd = await ctx.step('odd', { retries: -1 }, () => 1).catch((error) => error.message)
      return [flaky, late, refused, odd].join() }`]
  }, { constants: { taskGraceMs: 10_000 } })
  for (const capabilities of [{}, undefined]) {
    const client = new TaskClient(app, { time, ...(capabilities && { capabilities }) })
    const { content: [{ text }] } = await client.call('retries')
    t.equal(text, 'ok,TimeoutError,No.,step: retries must be a number from 0 to 100, got -1')
    t.strictSame(notes.flaky, [1, 1, 1])
    t.strictSame(notes.refused, [1])
    t.strictSame(notes.aborted, ['step "late" was stopped after 20 ms'])
    for (const key of Object.keys(notes)) delete notes[key]
  }
})

t.test('outside of a task a sleep waits in the process, and ends with the request', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    sleeps: ['timeoutMs: 100', 'async (_, ctx) => { await ctx.sleep(60_000) }'],
    odd: ['', 'async (_, ctx) => ctx.sleep(NaN).catch((error) => error.message)']
  })
  const client = new TaskClient(app, { time, capabilities: {} })
  t.match(await client.call('sleeps'), { isError: true, content: [{ text: /did not finish within 100 ms/ }] })
  t.match(await client.call('odd'), { content: [{ text: /sleep: ms must be a number from 0 to/ }] })
})

t.test('the log has a line for the call and one for the end of its task, with one id', async (t) => {
  const log = createReadableLog()
  const { app, time } = await serveInVirtualTime(t, {
    breaks: [ALLOWED, "async (_, ctx) => { await ctx.sleep(1000); throw new Error('a fault') }"]
  }, { logger: log.logger })
  const client = new TaskClient(app, { time })
  const { taskId } = await client.call('breaks')
  await client.until(taskId, 'failed')
  const lines = log.lines.filter(({ method }) => method === 'tools/call')
  t.equal(new Set(lines.map(({ reqId }) => reqId)).size, 1)
  t.ok(lines.some(({ err }) => err?.message === 'a fault'), 'the cause is in the log')
  t.notOk(log.text().includes(taskId), 'and no id is')
})

t.test('a task that runs counts as a running call, and one that must wait for that runs later', async (t) => {
  const { app, time } = await serveInVirtualTime(t, {
    naps: ["task: 'allowed', limits: { running: 1 }", `async (_, ctx) => { ${NOTE} await ctx.sleep(1000)
      note('running', 1); await taskPause(300); note('running', -1) }`]
  })
  const client = new TaskClient(app, { time })
  const begun = [await client.call('naps'), await client.call('naps'), await client.call('naps')]
  t.ok(begun.every(({ resultType }) => resultType === 'task'), 'a task that sleeps does not count')
  await time.until(() => notes.running !== undefined, 'a run')
  t.match(await client.call('naps'), { isError: true, content: [{ text: /may have 1 call of the tool/ }] })
  for (const { taskId } of begun) await client.until(taskId, 'completed', 15_000)
  t.strictSame(notes.running, [1, -1, 1, -1, 1, -1])
})

t.test('a task runs with the catalog of now: without its tool it is left until ttlMs', async (t) => {
  const folder = await makeFolder(t)
  const options = { stateUrl: `file:${folder}`, constants: { taskGraceMs: 50 }, taskLeaseMs: 500 }
  const files = { naps: [ALLOWED, 'async (_, ctx) => { await ctx.sleep(1000); return "first" }'] } as const
  const goes = [`${ALLOWED}, ttlMs: 3000`, files.naps[1]] as const
  const first = await serveTools(t, { ...files, goes }, options)
  const client = new TaskClient(first)
  const [kept, gone] = [await client.call('naps'), await client.call('goes')]
  await first.close()
  const second = new TaskClient(await serveTools(t, {
    naps: [ALLOWED, 'async (_, ctx) => { await ctx.sleep(1000); return "second" }']
  }, options))
  t.match(await second.until(kept.taskId, 'completed'), { result: { content: [{ text: 'second' }] } })
  t.match(await second.get(gone.taskId), { status: 'working' }, 'another release may know the tool')
  t.match(await second.until(gone.taskId, 'failed'), { error: { message: /did not end within 3000 ms/ } })
})

t.test('a thousand sleeping tasks hold no timers', async (t) => {
  const app = await serveTools(t, { sleeps: [ALLOWED, SLEEP] })
  const client = new TaskClient(app)
  const timers = new Set<number>()
  const hook = createHook({
    init: (id, type) => { if (type === 'Timeout') timers.add(id) }, destroy: (id) => { timers.delete(id) }
  }).enable()
  t.teardown(() => { hook.disable() })
  const begun = await Promise.all(Array.from({ length: 1000 }, async () => await client.call('sleeps')))
  t.ok(begun.every(({ resultType }) => resultType === 'task'))
  await pause(100)
  t.ok(timers.size < 10, `${timers.size} timers`)
})

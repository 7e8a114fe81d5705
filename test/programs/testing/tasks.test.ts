// Calls that become tasks, in a test of a catalog.

import t from 'tap'
import { toFiles } from '../../features/tasks/task-client.ts'
import { open } from './open.ts'

const FORM = "elicit.form({ message: 'Send it?', schema: { type: 'object', properties: {} } })"
const FILES = toFiles({
  remind: ["task: 'allowed', ttlMs: 172_800_000", `async (_, ctx) => {
    await ctx.sleep(86_400_000); return 'a day later' }`],
  send: ["task: 'allowed', ttlMs: 86_400_000", `async (_, ctx) => {
    await ctx.sleep(3_600_000); const { go } = await ctx.ask({ go: ${FORM} }); return go.action }`],
  prints: ["task: 'allowed', ttlMs: 86_400_000, relayQuestions: true", `async (_, ctx) => {
    await ctx.step('proof', () => 1)
    const { go } = await ctx.ask({ go: ${FORM} })
    const { again } = await ctx.ask({ again: ${FORM} })
    await ctx.sleep(3_600_000); return go.action + ' ' + again.action }`],
  slow: ["task: 'allowed'", 'async () => await new Promise((done) => setTimeout(done, 100, "done"))'],
  quick: ["task: 'allowed'", "() => 'at once'"],
  breaks: ["task: 'required'", "() => { throw new Error('a fault') }"]
})

t.test('a task sleeps until the clock is moved', async (t) => {
  const catalog = await open(t, FILES)
  const task = await catalog.begin('remind')
  t.match(await task.get(), { taskId: task.id, status: 'working' })
  catalog.advance(3_600_000)
  t.match(await task.get(), { status: 'working' })
  catalog.advance(82_800_000)
  t.match(await task.result(), { text: 'a day later', isError: false })
  t.match(await task.get(), { status: 'completed', result: { content: [{ text: 'a day later' }] } })
})

t.test('its questions are answered as those of a call', async (t) => {
  const catalog = await open(t, FILES)
  const answers = { go: { action: 'decline' } } as const
  const asked = await catalog.begin('send')
  catalog.advance(3_600_000)
  await t.rejects(asked.result(), { name: 'QuestionError', message: /Send it\?/ })
  t.match(await asked.get(), { status: 'input_required', inputRequests: { go: {} } })
  await asked.update(answers)
  t.match(await asked.result(), { text: 'decline' })
  const other = await catalog.begin('send')
  catalog.advance(3_600_000)
  t.match(await other.result({ answers }), { text: 'decline' })
})

t.test('answers of its beginning hold for questions after the grace time', async (t) => {
  const catalog = await open(t, FILES)
  const task = await catalog.begin('send', {}, { answers: { go: { action: 'decline' } } })
  catalog.advance(3_600_000)
  t.match(await task.result(), { text: 'decline' })
  const other = await catalog.begin('remind', {}, { answers: { none: { action: 'decline' } } })
  catalog.advance(86_400_000)
  await t.rejects(other.result(), { name: 'AnswerError', keys: ['none'] })
})

t.test('questions before a sleep are answered by its beginning, or by updates, in every host', async (t) => {
  const catalog = await open(t, FILES, { taskWaitMs: 100 })
  const go = { action: 'accept', content: {} } as const
  const again = { action: 'decline' } as const
  for (const caller of [catalog, catalog.as({ host: 'plain' })]) {
    const task = await caller.begin('prints', {}, { answers: { go, again } })
    catalog.advance(3_600_000)
    t.match(await task.result(), { text: 'accept decline' })
  }
  const task = await catalog.as({ host: 'plain' }).begin('prints')
  await task.update({ go })
  await task.update({ again })
  catalog.advance(3_600_000)
  t.match(await task.result(), { text: 'accept decline' })
})

t.test('a call waits for the result of its task', async (t) => {
  const catalog = await open(t, FILES, { taskGraceMs: 10 })
  t.match(await catalog.call('slow'), { text: 'done' })
  await t.rejects(catalog.call('breaks'), { name: 'RequestError', code: -32603 })
})

t.test('a task is cancelled, and belongs to its caller', async (t) => {
  const catalog = await open(t, FILES, { maxTasksPerCaller: 1 })
  const task = await catalog.as({ subject: 'ada' }).begin('remind')
  await task.cancel()
  t.match(await task.get(), { status: 'cancelled' })
  await t.rejects(task.result(), { name: 'RequestError', message: 'The task was cancelled' })
  await t.rejects(catalog.begin('quick'), { message: /^quick made no task/ })
  await catalog.as({ subject: 'ada' }).begin('remind')
  t.match(await catalog.as({ subject: 'ada' }).call('remind'), { isError: true, text: /^Too many unfinished tasks of yours \(1\)\./ })
})

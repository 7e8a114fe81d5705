// Answers that reach a call by another way than `tasks/update`, while its handler runs again: a sleep beside
// the question has ended. Each is in the record before it is acknowledged, and the first one counts.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../helpers/deadline.ts'
import { serveTools, TaskClient } from '../features/tasks/task-client.ts'
import { callOf, PlainClient, textOf } from './plain-client.ts'

/** What the handlers of the tests note and wait for, in this process. */
const notes = { runs: 0, mayGoOn: true }
Object.assign(globalThis, { answerNotes: notes })

const FORM = "elicit.form({ message: 'Which size?', schema: { type: 'object', required: ['size'], " +
  "properties: { size: { type: 'string' }, box: { type: 'boolean', default: true } } } })"
const LINK = "elicit.url({ message: 'Pay', url: 'https://pay.example/1' })"

/** A tool that asks beside a sleep. Its second run waits before it comes to the question. */
const toTool = (question: string) => ["task: 'allowed', relayQuestions: true", `async (_, ctx) => {
  const notes = globalThis.answerNotes
  notes.runs++
  while (!notes.mayGoOn) await new Promise((done) => setTimeout(done, 10))
  const [{ it }] = await Promise.all([ctx.ask({ it: ${question} }), ctx.sleep(1000)])
  return it.action + ' ' + (it.content?.size ?? '') }`] as const

const TOOLS = { forms: toTool(FORM), links: toTool(LINK) }
const CONSTANTS = { constants: { taskGraceMs: 0 } }

t.beforeEach(() => { Object.assign(notes, { runs: 0, mayGoOn: true }) })

/** Waits until the sleep is over, and the handler runs again. */
async function reachRun (): Promise<void> {
  notes.mayGoOn = false
  await until(() => notes.runs === 2, 'the second run')
}

const WAYS: ReadonlyArray<readonly [tool: keyof typeof TOOLS, what: string, args: object, result: string]> = [
  ['forms', 'an answer', { answers: { it: { size: 'L' } } }, 'accept L'],
  ['forms', 'a refusal', { decline: true }, 'decline '],
  ['links', 'the answer to a link', { answers: { it: {} } }, 'accept ']
]

for (const [tool, what, args, result] of WAYS) {
  for (const phase of ['asks', 'runs']) {
    t.test(`${what} that a model brings while its call ${phase} is kept`, async (t) => {
      const client = new PlainClient(await serveTools(t, TOOLS, CONSTANTS))
      const call = callOf(await client.call(tool))
      if (phase === 'runs') await reachRun()
      const continuing = client.continue(call, args)
      setTimeout(() => { notes.mayGoOn = true }, 200)
      t.equal(textOf(await continuing), result)
      t.equal(textOf(await client.continue(call, args)), result, 'sent again, it changes nothing')
    })
  }
}

t.test('the model whose answer comes second is told so, and the first answer counts', async (t) => {
  const app = await serveTools(t, TOOLS, CONSTANTS)
  const [client, other] = [new PlainClient(app), new PlainClient(app)]
  const call = callOf(await client.call('forms'))
  await reachRun()
  const first = client.continue(call, { answers: { it: { size: 'L' } } })
  await pause(200)
  const told = textOf(await other.continue(call, { answers: { it: { size: 'S' } } }))
  t.match(told, 'These answers were not taken:\n- "it" had an answer before, which counts')
  t.match(told, 'forms asks nothing now. To get its result, call the tool continue_call')
  notes.mayGoOn = true
  t.equal(textOf(await first), 'accept L')
  t.equal(textOf(await other.continue(callOf({ content: [{ text: told }] }))), 'accept L')
})

t.test('of two models that answer at once one is told that its answer was not taken', async (t) => {
  const app = await serveTools(t, TOOLS, CONSTANTS)
  const client = new PlainClient(app)
  const call = callOf(await client.call('forms'))
  await reachRun()
  setTimeout(() => { notes.mayGoOn = true }, 300)
  const texts = (await Promise.all(['S', 'L'].map(async (size) => (
    await client.continue(call, { answers: { it: { size } } })
  )))).map(textOf)
  t.equal(texts.filter((text) => text.startsWith('These answers were not taken')).length, 1, texts.join('; '))
  t.equal(texts.filter((text) => /^accept [SL]$/.test(text)).length, 1, texts.join('; '))
})

t.test('a client that is asked in its own call answers while the handler runs', async (t) => {
  const client = new PlainClient(await serveTools(t, TOOLS, CONSTANTS), { capabilities: { elicitation: {} } })
  const { inputRequests, requestState } = await client.call('forms')
  t.strictSame(Object.keys(inputRequests), ['it'])
  await reachRun()
  const inputResponses = { it: { action: 'accept', content: { size: 'M' } } }
  const answering = client.call('forms', {}, { inputResponses, requestState })
  setTimeout(() => { notes.mayGoOn = true }, 200)
  t.equal(textOf(await answering), 'accept M')
})

t.test('an answer to a question whose call has ended is acknowledged and ignored (289)', async (t) => {
  const client = new TaskClient(await serveTools(t, TOOLS, CONSTANTS))
  const { taskId } = await client.call('forms')
  await client.until(taskId, 'input_required')
  await client.cancel(taskId)
  const cancelled = await client.get(taskId)
  const inputResponses = { it: { action: 'accept', content: { size: 'M' } } }
  t.strictSame(Object.keys(await client.update(taskId, inputResponses)), ['resultType', '_meta'])
  t.strictSame(await client.get(taskId), cancelled)
})

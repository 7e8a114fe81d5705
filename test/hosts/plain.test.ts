// Calls that go on, for clients that have neither tasks nor elicitation.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { listen } from '../helpers/app.ts'
import { createReadableLog } from '../helpers/log.ts'
import { send, type Message } from '../helpers/request.ts'
import { openSession } from '../helpers/session.ts'
import { named, serveTools, TaskClient, TASKS } from '../features/tasks/task-client.ts'
import { callOf, PlainClient, textOf } from './plain-client.ts'

/** What the tools of the tests note, in this process. */
const notes: Record<string, unknown[]> = {}
Object.assign(globalThis, { plainNotes: notes })
const NOTE = 'const note = (key, value) => (globalThis.plainNotes[key] ??= []).push(value);'
t.beforeEach(() => { for (const key of Object.keys(notes)) delete notes[key] })

const ALLOWED = "task: 'allowed'"
const OUTPUT = "outputSchema: { type: 'object', required: ['cake'], " +
  "properties: { cake: { type: 'string' } } }"
const FORM = "elicit.form({ message: 'Which size?', schema: { type: 'object', required: ['size'], " +
  "properties: { size: { type: 'string', enum: ['S', 'L'], description: 'The size of the cake' } } } })"
const WAIT = { taskWaitMs: 1000 }

const TOOLS = {
  quick: [ALLOWED, "() => 'at once'"],
  bakes: [`${ALLOWED}, ${OUTPUT}`, `async (_, ctx) => { ${NOTE}
    await ctx.step('order', () => note('orders', 1))
    ctx.progress(1, 3, 'in the oven')
    await ctx.sleep(5000)
    return { cake: 'lemon' } }`],
  steps: [ALLOWED, "async (_, ctx) => await ctx.step('one', () => 'one')"],
  asks: [`${ALLOWED}, relayQuestions: true`, `async (_, ctx) => { ${NOTE}
    await ctx.step('order', () => note('orders', 1))
    const { size } = await ctx.ask({ size: ${FORM} })
    return size.action === 'accept' ? 'size ' + size.content.size : size.action }`],
  only: ['relayQuestions: true', `async (_, ctx) => { ${NOTE}
    await ctx.once('order', () => note('orders', 1))
    const { size } = await ctx.ask({ size: ${FORM} })
    return size.action === 'accept' ? 'size ' + size.content.size : size.action }`],
  strict: [ALLOWED, `async (_, ctx) => { const { size } = await ctx.ask({ size: ${FORM} }); return size.action }`],
  pays: [ALLOWED, `async (_, ctx) => {
    const { pay } = await ctx.ask({ pay: elicit.url({ message: 'Pay', url: 'https://pay.example/1' }) })
    return 'paid: ' + pay.action }`],
  fails: [ALLOWED, "async (_, ctx) => { await ctx.step('one', () => 1); throw new Error('a fault') }"],
  refuses: [ALLOWED, "async (_, ctx) => { await ctx.step('one', () => 1); throw new ToolError('No.') }"]
} as const

/** Continues the call for as long as it is at work. */
async function untilDone (client: PlainClient, from: Message): Promise<Message> {
  let result = from
  while (/still at work/.test(textOf(result))) result = await client.continue(callOf(result))
  return result
}

t.test('a call that ends within the wait has its result, and leaves no record', async (t) => {
  const app = await serveTools(t, TOOLS, { ...named, maxTasksPerCaller: 1 })
  const client = new PlainClient(app, { user: 'ada' })
  t.match(await client.call('quick'), { resultType: 'complete', content: [{ text: 'at once' }] })
  // Ten records would be the limit.
  for (let count = 0; count < 15; count++) {
    t.match(await client.call('steps'), { resultType: 'complete', content: [{ text: 'one' }] }, `call ${count}`)
    await pause(5)
  }
  t.match(await client.call('refuses'), { isError: true, content: [{ text: 'No.' }] })
  t.match(await client.call('fails'), { code: -32603, message: 'Internal error' })
})

t.test('the log has a failure once, however often the model is told of it', async (t) => {
  const log = createReadableLog()
  const app = await serveTools(t, {
    fails: [ALLOWED, "async (_, ctx) => { await ctx.sleep(1500); throw new Error('a fault') }"]
  }, { taskWaitMs: 1000, logger: log.logger })
  const client = new PlainClient(app)
  const call = callOf(await client.call('fails'))
  for (const time of ['once', 'twice']) {
    t.match(await client.continue(call), { code: -32603, message: 'Internal error' }, time)
  }
  const failures = log.lines.filter(({ msg }) => msg === 'request failed')
  t.match(failures, [{ name: 'fails', err: { message: 'a fault' } }])
  t.equal(failures.length, 1)
})

t.test('a call that takes longer is continued, and its steps are done once', async (t) => {
  const app = await serveTools(t, TOOLS, WAIT)
  const client = new PlainClient(app)
  const first = await client.call('bakes')
  t.match(first, { resultType: 'complete', isError: true }, 'an error, because structured content is due')
  t.match(textOf(first), /^This is no error. bakes is still at work: in the oven\. To get its result, call the tool/)
  const call = callOf(first)
  const second = await client.continue(call)
  t.match(second, { content: [{ text: /^bakes is still at work: in the oven/ }] })
  t.not(callOf(second), call, 'some agents stop a model that repeats a call to the letter')
  const last = await untilDone(client, second)
  t.match(last, { structuredContent: { cake: 'lemon' } })
  t.notOk(last.isError)
  t.strictSame(await client.continue(call), last, 'once more')
  t.strictSame(notes.orders, [1])
})

t.test('a call that was continued waits for its end', async (t) => {
  const app = await serveTools(t, TOOLS, { taskWaitMs: 20_000 })
  t.match(await new PlainClient(app).call('bakes'), { structuredContent: { cake: 'lemon' } })
  t.strictSame(notes.orders, [1])
})

t.test('a call belongs to its caller: to all others it does not exist', async (t) => {
  const app = await serveTools(t, TOOLS, { ...named, ...WAIT })
  const call = callOf(await new PlainClient(app, { user: 'ada' }).call('bakes'))
  const bob = new PlainClient(app, { user: 'bob' })
  const unknown = await bob.continue('task_0000000000000000000000')
  t.match(unknown, { isError: true, content: [{ text: /There is no such call/ }] })
  t.strictSame(await bob.continue(call), unknown)
  t.strictSame(await bob.continue('nonsense'), unknown)
  t.match(await bob.continue(call, { cancel: true }), { isError: true })
})

t.test('the model of a plain client passes on a question', async (t) => {
  const client = new PlainClient(await serveTools(t, TOOLS))
  for (const name of ['asks', 'only'] as const) {
    delete notes.orders
    const asked = await client.call(name)
    t.match(textOf(asked), /"size" \(required\): one of "S", "L"\. The size of the cake/, name)
    t.match(textOf(asked), 'answers: { "size": { "size": … } }')
    const call = callOf(asked)
    const again = await client.continue(call)
    t.equal(textOf(again), textOf(asked).replace('.1"', '.2"'), 'as long as it is not answered')
    const wrong = await client.continue(call, { answers: { size: { size: 'XL' } } })
    t.match(textOf(wrong), /These answers do not fit:\n- "size" size/)
    t.match(textOf(wrong), 'one of "S", "L"')
    const answers = { size: { size: 'L' } }
    t.match(await client.continue(call, { answers }), { content: [{ text: 'size L' }] })
    t.match(await client.continue(call, { answers }), { content: [{ text: 'size L' }] }, 'once more')
    t.strictSame(notes.orders, [1])

    const declined = callOf(await client.call(name))
    t.match(await client.continue(declined, { decline: true }), { content: [{ text: 'decline' }] })
    const cancelled = callOf(await client.call(name))
    t.match(await client.continue(cancelled, { cancel: true }), { content: [{ text: /was cancelled/ }] })
    t.match(await client.continue(cancelled), { isError: true, content: [{ text: /was cancelled/ }] })
  }
})

t.test('fields that are left out have their defaults', async (t) => {
  const form = "elicit.form({ message: 'Icing?', schema: { type: 'object', properties: " +
    "{ icing: { type: 'boolean', default: true }, name: { type: 'string' } } } })"
  const client = new PlainClient(await serveTools(t, {
    ices: [`${ALLOWED}, relayQuestions: true`, `async (_, ctx) => (await ctx.ask({ ice: ${form} })).ice`]
  }))
  const call = callOf(await client.call('ices'))
  const { structuredContent } = await client.continue(call, { answers: { ice: { name: 'Ada' } } })
  t.strictSame(structuredContent, { action: 'accept', content: { icing: true, name: 'Ada' } })
})

t.test('a question that neither the client nor its model may ask is an error', async (t) => {
  const app = await serveTools(t, {
    firm: [ALLOWED, `async (_, ctx) => {
      await ctx.step('one', () => 1)
      return (await ctx.ask({ size: ${FORM} })).size.action }`]
  }, { constants: { taskGraceMs: 0 } })
  const able = new TaskClient(app)
  const { taskId } = await able.call('firm')
  await able.until(taskId, 'input_required')
  const client = new PlainClient(app)
  const told = await client.continue(taskId)
  t.match(told, { isError: true, content: [{ text: /Only the user can answer it, in a client with elicitation/ }] })
  const forged = await client.continue(taskId, { answers: { size: { size: 'L' } } })
  t.match(textOf(forged), /These answers do not fit:\n- "size" must be answered by the user/)
  await able.update(taskId, { size: { action: 'accept', content: { size: 'L' } } })
  t.match(await client.continue(taskId), { content: [{ text: 'accept' }] })
})

t.test('without relayQuestions a plain client is told what it lacks', async (t) => {
  const app = await serveTools(t, TOOLS)
  const params = { name: 'strict', arguments: {} }
  const { status, response } = await new PlainClient(app).send('tools/call', params)
  t.equal(status, 400)
  t.match(response.error, { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } })
})

t.test('no model answers what its client can ask, though another question is for the model', async (t) => {
  const app = await serveTools(t, {
    both: [`${ALLOWED}, relayQuestions: true`, `async (_, ctx) => {
      const link = elicit.url({ message: 'Pay', url: 'https://pay.example/1' })
      const { size, pay } = await ctx.ask({ size: ${FORM}, pay: link })
      return size.content.size + ' ' + pay.action }`]
  })
  const client = new PlainClient(app, { capabilities: { elicitation: { form: {} } } })
  const asked = await client.call('both')
  t.match(asked, { resultType: 'input_required' })
  t.strictSame(Object.keys(asked.inputRequests), ['size'])
  const inputResponses = { size: { action: 'accept', content: { size: 'S' } } }
  const relayed = await client.call('both', {}, { inputResponses, requestState: asked.requestState })
  t.match(textOf(relayed), 'answers: { "pay": {} }')
  t.notMatch(textOf(relayed), 'Which size')
  const answers = { pay: {}, size: { size: 'L' } }
  t.match(await client.continue(callOf(relayed), { answers }), { content: [{ text: 'S accept' }] })
})

t.test('answers that come again are no problem while the next question is open', async (t) => {
  const client = new PlainClient(await serveTools(t, {
    twice: [`${ALLOWED}, relayQuestions: true`, `async (_, ctx) => {
      const { one } = await ctx.ask({ one: ${FORM} })
      const { two } = await ctx.ask({ two: ${FORM} })
      return one.content.size + two.content.size }`]
  }))
  const call = callOf(await client.call('twice'))
  const answers = { one: { size: 'S' } }
  for (const time of ['once', 'twice']) {
    t.notMatch(textOf(await client.continue(call, { answers })), 'do not fit', time)
  }
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name-${index}`, {}]))
  t.ok(textOf(await client.continue(call, { answers: many })).length < 2000, 'few problems are named')
  t.match(await client.continue(call, { answers: { two: { size: 'L' } } }), { content: [{ text: 'SL' }] })
})

t.test('a step that a synchronous handler does not wait for is done', async (t) => {
  const client = new PlainClient(await serveTools(t, {
    hurries: [ALLOWED, `(_, ctx) => { ${NOTE} ctx.step('order', () => note('orders', 1)); return 'done' }`]
  }))
  t.match(await client.call('hurries'), { content: [{ text: 'done' }] })
  t.strictSame(notes.orders, [1])
})

t.test('a link is shown by the model', async (t) => {
  const client = new PlainClient(await serveTools(t, TOOLS))
  const asked = await client.call('pays')
  t.match(textOf(asked), 'Show the user this link, to open it: https://pay.example/1')
  t.match(textOf(asked), 'answers: { "pay": {} }')
  const answers = { pay: {} }
  t.match(await client.continue(callOf(asked), { answers }), { content: [{ text: 'paid: accept' }] })
})

t.test('a client with elicitation is asked itself, by its own call and by continue_call', async (t) => {
  const app = await serveTools(t, TOOLS)
  const client = new PlainClient(app, { capabilities: { elicitation: {} } })
  const asked = await client.call('asks')
  t.match(asked, { resultType: 'input_required', inputRequests: { size: { method: 'elicitation/create' } } })
  const inputResponses = { size: { action: 'accept', content: { size: 'S' } } }
  const { requestState } = asked
  t.match(await client.call('asks', {}, { inputResponses, requestState }), { content: [{ text: 'size S' }] })
  t.match(await client.call('asks', {}, { inputResponses, requestState }), { content: [{ text: 'size S' }] })
  t.strictSame(notes.orders, [1])

  const plain = new PlainClient(app)
  const call = callOf(await plain.call('asks'))
  const other = await client.continue(call, { answers: { size: { size: 'L' } } })
  t.match(other, { resultType: 'input_required' }, 'its model cannot answer')
  const params = { inputResponses, requestState: other.requestState }
  const args = { call, answers: { size: { size: 'L' } } }
  t.match(await client.call('continue_call', args, params), { content: [{ text: 'size S' }] })
})

t.test('a session continues a call', async (t) => {
  const url = await listen(await serveTools(t, TOOLS, WAIT))
  const plain = await openSession(t, url, { capabilities: {} })
  const { result } = await plain.call('bakes')
  t.match(result, { isError: true, content: [{ text: /still at work/ }] })
  t.notOk('resultType' in result)
  let last = result
  while (/still at work/.test(textOf(last))) {
    last = (await plain.call('continue_call', { call: callOf(last) })).result
  }
  t.match(last, { structuredContent: { cake: 'lemon' } })
  t.notOk('resultType' in last || '_meta' in last)
  t.strictSame(notes.orders, [1])
})

t.test('the model of a session passes on questions', async (t) => {
  const plain = await openSession(t, await listen(await serveTools(t, TOOLS)), { capabilities: {} })
  const { result: relayed } = await plain.call('asks')
  const { result: size } = await plain.call(
    'continue_call', { call: callOf(relayed), answers: { size: { size: 'L' } } }
  )
  t.match(size, { content: [{ text: 'size L' }] })
})

t.test('a result that a limit refuses has the form of the session', async (t) => {
  const url = await listen(await serveTools(t, {
    large: [`${ALLOWED}, limits: { resultBytes: 100 }`, "() => 'x'.repeat(1000)"]
  }))
  const session = await openSession(t, url, { capabilities: {} })
  const { result } = await session.call('large')
  t.match(result, { isError: true, content: [{ text: /a result may have 100 bytes/ }] })
  t.notOk('resultType' in result || '_meta' in result)
})

t.test('a session with elicitation is asked by a request of its revision', async (t) => {
  const url = await listen(await serveTools(t, TOOLS))
  const session = await openSession(t, url, { capabilities: { elicitation: {} } })
  const reply = await session.startCall('asks')
  const question = await reply.next()
  t.match(question, { method: 'elicitation/create', params: { message: 'Which size?' } })
  await session.answer(question.id, { action: 'accept', content: { size: 'L' } })
  t.match((await reply.ended()).result, { content: [{ text: 'size L' }] })
  t.strictSame(notes.orders, [1])
})

t.test('the tool is in the list beside one that needs it, for whoever sees that', async (t) => {
  const tools = async (sources: Parameters<typeof serveTools>[1], capabilities: object) => {
    const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
    const { response } = await send(await serveTools(t, sources), { method: 'tools/list', meta })
    return response.result.tools.map(({ name }: { name: string }) => name)
  }
  t.strictSame(await tools({ quick: TOOLS.quick }, {}), ['quick', 'continue_call'])
  t.strictSame(await tools({ quick: TOOLS.quick }, TASKS), ['quick', 'continue_call'])
  t.strictSame(await tools({ quick: ['', "() => 'x'"] }, {}), ['quick'])
})

t.test('a task of a client with the extension is the same record', async (t) => {
  const app = await serveTools(t, TOOLS, { ...named, ...WAIT })
  const { taskId } = await new TaskClient(app, { user: 'ada' }).call('bakes')
  t.match(await new PlainClient(app, { user: 'ada' }).continue(taskId), { content: [{ text: /still at work/ }] })
})

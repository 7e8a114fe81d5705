// Questions of tools without `task`, for clients that cannot be asked all of them.

import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { buildApp, listen } from '../helpers/app.ts'
import { send, type Message } from '../helpers/request.ts'
import { openSession } from '../helpers/session.ts'
import { named, serveTools, TASKS, toFiles } from '../features/tasks/task-client.ts'
import { callOf, PlainClient, textOf } from './plain-client.ts'

const orders: unknown[] = []
Object.assign(globalThis, { relayedOrders: orders })
t.beforeEach(() => { orders.length = 0 })

const ORDER = "await ctx.once('order', () => { globalThis.relayedOrders.push(1); return 7 })"
const LINK = "elicit.url({ message: 'Pay', url: 'https://pay.example/1' })"
const FORM = "elicit.form({ message: 'Which size?', schema: { type: 'object', required: ['size'], " +
  "properties: { size: { type: 'string', enum: ['S', 'L'] } } } })"
const MANY = "elicit.form({ message: 'Which?', schema: { type: 'object', required: ['all'], " +
  "properties: { all: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } } } })"
const LINKS_ONLY = "relayQuestions: 'links'"

const TOOLS = {
  pays: [LINKS_ONLY, `async (_, ctx) => {
    const id = ${ORDER}
    const { pay } = await ctx.ask({ pay: ${LINK} })
    return id + ' ' + pay.action }`],
  sizes: [LINKS_ONLY, `async (_, ctx) => {
    const { size } = await ctx.ask({ size: ${FORM} })
    const id = ${ORDER}
    const { pay } = await ctx.ask({ pay: ${LINK} })
    return [size.content?.size, id, pay.action].join(' ') }`],
  both: [LINKS_ONLY, `async (_, ctx) => {
    const { size, pay } = await ctx.ask({ size: ${FORM}, pay: ${LINK} })
    return size.content.size + ' ' + pay.action }`],
  beside: [LINKS_ONLY, `async (_, ctx) => {
    const slow = ctx.once('order', async () => {
      await new Promise((end) => setTimeout(end, 50))
      globalThis.relayedOrders.push('slow')
      return 7
    })
    const late = new Promise((end) => setTimeout(end, 200)).then(async () => {
      await ctx.once('late', () => globalThis.relayedOrders.push('late'))
    })
    const [{ pay }, id] = await Promise.all([ctx.ask({ pay: ${LINK} }), slow, late])
    return id + ' ' + pay.action }`],
  forms: [LINKS_ONLY, `async (_, ctx) => (await ctx.ask({ size: ${FORM} })).size.action`],
  many: ['relayQuestions: true', `async (_, ctx) => (await ctx.ask({ many: ${MANY} })).many.content.all.join()`],
  large: [LINKS_ONLY, `async (_, ctx) => {
    await ctx.once('large', () => 'x'.repeat(300_000))
    return (await ctx.ask({ pay: ${LINK} })).pay.action }`],
  silent: ['', `async (_, ctx) => (await ctx.ask({ pay: ${LINK} })).pay.action`],
  deduped: ['dedupe: true, annotations: { idempotentHint: true }, relayQuestions: false',
    `async (_, ctx) => (await ctx.ask({ pay: ${LINK} })).pay.action`]
} as const

const PAY = { pay: {} }

t.test('a link is shown by the model, and the call goes on from its answer', async (t) => {
  const app = await serveTools(t, TOOLS, named)
  const client = new PlainClient(app, { user: 'ada' })
  for (const capabilities of [{}, TASKS, { elicitation: { form: {} } }]) {
    orders.length = 0
    const asked = await new PlainClient(app, { user: 'ada', capabilities }).call('pays')
    t.match(textOf(asked), 'Show the user this link, to open it: https://pay.example/1')
    t.match(textOf(asked), 'answers: { "pay": {} }')
    const call = callOf(asked)
    const unknown = await new PlainClient(app, { user: 'bob' }).continue(call, { answers: PAY })
    t.match(unknown, { isError: true, content: [{ text: /There is no such call/ }] })
    t.match(await client.continue(call, { answers: PAY }), { content: [{ text: '7 accept' }] })
    t.match(await client.continue(call), { content: [{ text: '7 accept' }] }, 'once more')
    t.strictSame(orders, [1])
  }
  const declined = callOf(await client.call('pays'))
  t.match(await client.continue(declined, { decline: true }), { content: [{ text: '7 decline' }] })
})

t.test('a client with both is asked both, and nothing is kept', async (t) => {
  const app = await serveTools(t, TOOLS)
  const client = new PlainClient(app, { capabilities: { elicitation: { form: {}, url: {} } } })
  const asked = await client.call('pays')
  t.match(asked, { resultType: 'input_required', inputRequests: { pay: { params: { mode: 'url' } } } })
  const params = { inputResponses: { pay: { action: 'accept' } }, requestState: asked.requestState }
  t.match(await client.call('pays', {}, params), { content: [{ text: '7 accept' }] })
  t.strictSame(orders, [1])

  orders.length = 0
  const { requestState } = await client.call('beside')
  await pause(250)
  t.strictSame(orders, ['slow'], 'nothing begins after the end: it would be done twice')
  t.match(await client.call('beside', {}, { ...params, requestState }), { content: [{ text: '7 accept' }] })
  t.strictSame(orders, ['slow', 'late'])
})

t.test('a form is for the client, also before and beside a link for its model', async (t) => {
  const app = await serveTools(t, TOOLS)
  const client = new PlainClient(app, { capabilities: { elicitation: { form: {} } } })
  for (const [name, text] of [['sizes', 'L 7 accept'], ['both', 'L accept']] as const) {
    const asked = await client.call(name)
    t.match(asked, { resultType: 'input_required' }, name)
    t.strictSame(Object.keys(asked.inputRequests), ['size'])
    const inputResponses = { size: { action: 'accept', content: { size: 'L' } } }
    const linked = await client.call(name, {}, { inputResponses, requestState: asked.requestState })
    t.match(textOf(linked), 'https://pay.example/1')
    t.notMatch(textOf(linked), 'Which size')
    t.match(await client.continue(callOf(linked), { answers: PAY }), { content: [{ text }] })
  }
  t.strictSame(orders, [1])
  const { status, response } = await new PlainClient(app).send('tools/call', { name: 'forms', arguments: {} })
  t.equal(status, 400)
  t.match(response.error, { code: -32021 }, 'no model answers a form of such a tool')
  t.match((await new PlainClient(app).send('tools/call', { name: 'both', arguments: {} })).status, 400)
})

t.test('what runs beside the question is not lost', async (t) => {
  const app = await serveTools(t, TOOLS)
  const client = new PlainClient(app)
  const session = await openSession(t, await listen(app), { capabilities: {} })
  const calls = [async () => await client.call('beside'), async () => (await session.call('beside')).result]
  for (const call of calls) {
    orders.length = 0
    const asked = await call()
    t.strictSame(orders, ['slow'])
    await pause(250)
    t.strictSame(orders, ['slow'], 'nothing begins after the end: it would be done twice')
    const end = await client.continue(callOf(asked), { answers: PAY })
    t.match(end, { content: [{ text: '7 accept' }] })
    t.strictSame(orders, ['slow', 'late'])
  }
  t.match(await client.call('large'), { code: -32603, message: 'Internal error' }, 'too much to keep')
})

t.test('a session is told of a link, with and without forms of its own', async (t) => {
  const url = await listen(await serveTools(t, TOOLS))
  for (const capabilities of [{}, { elicitation: {} }]) {
    orders.length = 0
    const session = await openSession(t, url, { capabilities })
    const { result } = await session.call('pays')
    t.match(textOf(result), 'https://pay.example/1')
    t.notOk('resultType' in result)
    const { result: end } = await session.call('continue_call', { call: callOf(result), answers: PAY })
    t.match(end, { content: [{ text: '7 accept' }] })
    t.strictSame(orders, [1])
  }
})

t.test('a session with forms is asked by its handler, which runs again only after the link', async (t) => {
  const url = await listen(await serveTools(t, TOOLS))
  for (const [name, text] of [['sizes', 'S 7 accept'], ['both', 'S accept']] as const) {
    orders.length = 0
    const session = await openSession(t, url, { capabilities: { elicitation: {} } })
    const reply = await session.startCall(name)
    const question = await reply.next()
    t.match(question, { method: 'elicitation/create', params: { message: 'Which size?' } }, name)
    await session.answer(question.id, { action: 'accept', content: { size: 'S' } })
    const { result } = await reply.ended()
    t.match(textOf(result), 'https://pay.example/1')
    const { result: end } = await session.call('continue_call', { call: callOf(result), answers: PAY })
    t.match(end, { content: [{ text }] })
    t.strictSame(orders, name === 'sizes' ? [1] : [])
  }
})

t.test('what a revision cannot ask is for the model, whatever the session declares', async (t) => {
  const url = await listen(await serveTools(t, {
    ...TOOLS,
    strict: ["task: 'allowed'", `async (_, ctx) => (await ctx.ask({ size: ${FORM} })).size.action`]
  }))
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    const session = await openSession(t, url, { revision, capabilities: { elicitation: {} } })
    const answer = async (result: Message, answers: object) => (
      (await session.call('continue_call', { call: callOf(result), answers })).result
    )
    const { result: link } = await session.call('pays')
    t.match(await answer(link, PAY), { content: [{ text: '7 accept' }] }, revision)
    const { result: many } = await session.call('many')
    t.match(await answer(many, { many: { all: ['b'] } }), { content: [{ text: 'b' }] })
    if (revision === '2025-06-18') continue
    const { result: refused } = await session.call('strict')
    t.match(refused, { isError: true, content: [{ text: /it lacks elicitation/ }] })
  }
})

t.test('a call with a key that is sent again meets the one that asks', async (t) => {
  const app = await serveTools(t, TOOLS)
  const call = async () => {
    const { response } = await send(app, {
      method: 'tools/call', params: { name: 'pays', arguments: {} }, headers: { 'idempotency-key': 'one' }
    })
    return response.result
  }
  const first = await call()
  const second = await call()
  t.equal(textOf(second), textOf(first))
  t.strictSame(orders, [1], 'the handler did not run again')
  const end = await new PlainClient(app).continue(callOf(first), { answers: PAY })
  t.match(end, { content: [{ text: '7 accept' }] })
  t.match(await call(), { content: [{ text: '7 accept' }] })
  t.strictSame(orders, [1])
})

t.test('a request of a session that comes twice meets the call that asks', async (t) => {
  const session = await openSession(t, await listen(await serveTools(t, TOOLS)), { capabilities: {} })
  const call = async () => (await session.startCall('pays', {}, { id: 'same' })).ended()
  const { result: first } = await call()
  const { result: second } = await call()
  t.equal(textOf(second), textOf(first))
  t.strictSame(orders, [1])
})

t.test('answers that come twice with one key lead to one call', async (t) => {
  const app = await serveTools(t, TOOLS)
  const capabilities = { elicitation: { form: {} } }
  const call = async (more: object) => {
    const { response } = await send(app, {
      method: 'tools/call',
      params: { name: 'sizes', arguments: {}, ...more },
      headers: { 'idempotency-key': 'one' },
      meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities }
    })
    return response.result
  }
  const { requestState } = await call({})
  const inputResponses = { size: { action: 'accept', content: { size: 'L' } } }
  const first = await call({ inputResponses, requestState })
  t.equal(textOf(await call({ inputResponses, requestState })), textOf(first))
  t.strictSame(orders, [1])
})

t.test('a call that was kept for its questions has the time limit of an ordinary one', async (t) => {
  const client = new PlainClient(await serveTools(t, {
    late: [`${LINKS_ONLY}, timeoutMs: 300`, `async (_, ctx) => {
      await ctx.ask({ pay: ${LINK} })
      await new Promise((end) => setTimeout(end, 3000))
      return 'late' }`]
  }))
  const call = callOf(await client.call('late'))
  const end = await client.continue(call, { answers: PAY })
  t.match(end, { isError: true, content: [{ text: 'late did not finish within 300 ms and was stopped.' }] })
})

t.test('a client with tasks and without elicitation gets what a model may pass on', async (t) => {
  const app = await serveTools(t, {
    asks: ["task: 'allowed', relayQuestions: true", `async (_, ctx) => {
      return (await ctx.ask({ size: ${FORM} })).size.action }`]
  })
  const asked = await new PlainClient(app, { capabilities: TASKS }).call('asks')
  t.match(textOf(asked), 'answers: { "size": { "size": … } }')
})

t.test('a handler that asks again and again does not keep the process busy', async (t) => {
  const note = 'globalThis.relayedOrders.push(1)'
  const loop = (what: string) => `async (_, ctx) => { for (;;) { try { ${what} } catch { ${note} } } }`
  const app = await serveTools(t, {
    asks: [`${LINKS_ONLY}, timeoutMs: 500`, loop(`return await ctx.ask({ pay: ${LINK} })`)]
  })
  for (const capabilities of [{}, { elicitation: { form: {}, url: {} } }]) {
    orders.length = 0
    await new PlainClient(app, { capabilities }).call('asks')
    t.ok(orders.length < 30, `${orders.length} times`)
  }
})

t.test('a tool that relays nothing cannot have its links shown, and needs no other tool', async (t) => {
  const app = await serveTools(t, { silent: TOOLS.silent, deduped: TOOLS.deduped })
  const { response } = await send(app, { method: 'tools/list' })
  t.strictSame(response.result.tools.map(({ name }: Message) => name), ['deduped', 'silent'])
  const session = await openSession(t, await listen(app), { capabilities: {} })
  for (const name of ['silent', 'deduped']) {
    const { response: refused } = await new PlainClient(app).send('tools/call', { name, arguments: {} })
    t.match(refused.error, { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } })
    t.match((await session.call(name)).result, { isError: true, content: [{ text: /it lacks elicitation/ }] })
  }
})

t.test('without the tool that continues calls, a link is an error before anything is kept', async (t) => {
  const app = await buildApp(t, { ...toFiles({ pays: TOOLS.pays }), 'server.yaml': 'continueTool: off\n' })
  const { response } = await new PlainClient(app).send('tools/call', { name: 'pays', arguments: {} })
  t.match(response.error, { code: -32021 })
})

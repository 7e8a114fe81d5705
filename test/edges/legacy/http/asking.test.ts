// Handlers that ask the client of a session. The service sends requests on the call's own stream.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../../src/app/app.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { until } from '../../../helpers/deadline.ts'
import { createReadableLog } from '../../../helpers/log.ts'
import type { Message } from '../../../helpers/request.ts'
import {
  openSession, type SessionClient, type SessionOptions, type SessionReply
} from '../../../helpers/session.ts'
import { ASKERS } from './askers.ts'

const FILES = {
  'tools/all.ts': `
    import { defineTool, elicit, roots, sample } from 'trivet'
    export const state = { runs: 0, done: 0, aborted: 0 }
    const define = (name, run, options = {}) => defineTool({ name, description: 'A tool.', ...options, run })
    const properties = { size: { type: 'string', enum: ['S', 'L'] } }
    const sizes = { type: 'object', properties, required: ['size'] }
    const size = async (ctx, key = 'size') => {
      const answers = await ctx.ask({ [key]: elicit.form({ message: 'Which size?', schema: sizes }) })
      return answers[key]
    }
    const ask = async (ctx, request) => JSON.stringify((await ctx.ask({ a: request })).a)
    const url = { message: 'Visit?', url: 'https://a.example/b' }
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }]
    const untilAborted = (ctx) => new Promise((resolve, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
    })
    export default [
      define('form', async (_, ctx) => JSON.stringify(await size(ctx))),
      define('url', async (_, ctx) => await ask(ctx, elicit.url(url))),
      define('sample', async (_, ctx) => await ask(ctx, sample({ messages, maxTokens: 10 }))),
      define('roots', async (_, ctx) => await ask(ctx, roots())),
      define('both', async (_, ctx) => {
        return JSON.stringify(await ctx.ask({ r: roots(), s: sample({ messages, maxTokens: 1 }) }))
      }),
      define('sequence', async (_, ctx) => {
        state.runs++
        const first = await size(ctx, 'first')
        const done = await ctx.once('order', () => { state.done++; return 'order ' + state.done })
        const again = await ctx.once('order', () => { state.done++; return 'never' })
          .catch((error) => error.message)
        const second = await size(ctx, 'second')
        const known = await size(ctx, 'first')
        return JSON.stringify([first, second, known, done, again])
      }),
      define('speaks', async (_, ctx) => {
        ctx.progress(1)
        const answer = await size(ctx)
        ctx.progress(2)
        return JSON.stringify(answer)
      }),
      define('waits', async (_, ctx) => {
        ctx.signal.addEventListener('abort', () => { state.aborted++ })
        return JSON.stringify(await size(ctx))
      }),
      define('later', async (_, ctx) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        return JSON.stringify(await size(ctx))
      }),
      define('dawdles', async (_, ctx) => {
        await size(ctx)
        await untilAborted(ctx)
      }),
      define('needs', () => 'ok', { requiredCapabilities: { sampling: {} } }),
      define('needs_form', () => 'ok', { requiredCapabilities: { elicitation: { form: {} } } }),
      define('tries', async (_, ctx) => {
        try { await size(ctx) } catch (error) { return error.name + ': ' + error.message }
      }),
      define('state', () => JSON.stringify(state))
    ]`,
  ...ASKERS
}

const LARGE = { action: 'accept', content: { size: 'L' } }

async function open (
  t: Test, options: SessionOptions = {}, appOptions: AppOptions = {}
): Promise<SessionClient> {
  return await openSession(t, await listen(await buildApp(t, FILES, appOptions)), options)
}

const textOf = ({ result }: SessionReply): string => result.content[0].text
const valueOf = (reply: SessionReply): Message => JSON.parse(textOf(reply))
const stateOf = async (session: SessionClient): Promise<Message> => valueOf(await session.call('state'))

/** Calls a tool and answers its one question. */
async function callAndAnswer (
  session: SessionClient, name: string, result: unknown
): Promise<{ readonly question: Message, readonly reply: SessionReply }> {
  const reply = await session.startCall(name)
  const question = await reply.next()
  const { status, text } = await session.answer(question.id, result)
  if (status !== 202 || text !== '') throw new Error(`${status} ${text}`)
  return { question, reply: await reply.ended() }
}

t.test('several questions at once are asked at once, and answered in any order (344)', async (t) => {
  const session = await open(t)
  const reply = await session.startCall('both')
  const questions = [await reply.next(), await reply.next()]
  const sampled = { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' }
  for (const { id, method } of questions.reverse()) {
    await session.answer(id, method === 'roots/list' ? { roots: [] } : sampled)
  }
  t.strictSame(valueOf(await reply.ended()), { r: { roots: [] }, s: sampled })
})

t.test('a handler that asks in sequence runs once, asks each question once, and does once what is done ' +
  'once (344)', async (t) => {
  const session = await open(t)
  const reply = await session.startCall('sequence')
  await session.answer((await reply.next()).id, LARGE)
  await session.answer((await reply.next()).id, { action: 'decline' })
  const values = valueOf(await reply.ended())
  t.match(values, [LARGE, { action: 'decline' }, LARGE, 'order 1', /"order" of once or step was used twice/])
  t.match(await stateOf(session), { runs: 1, done: 1 })
  t.equal(reply.messages.length, 3)
})

t.test('two calls at once get each their own answer', async (t) => {
  const session = await open(t)
  const [one, two] = [await session.startCall('form'), await session.startCall('form')]
  const [asked, askedToo] = [await one.next(), await two.next()]
  await session.answer(askedToo.id, { action: 'cancel' })
  await session.answer(asked.id, LARGE)
  t.strictSame([valueOf(await one.ended()), valueOf(await two.ended())], [LARGE, { action: 'cancel' }])
})

t.test('sends a question in order with progress notifications (331)', async (t) => {
  const session = await open(t)
  const reply = await session.startCall('speaks', {}, { meta: { progressToken: 1 } })
  await until(() => reply.messages.length === 2, 'the question')
  await session.answer(reply.messages[1].id, LARGE)
  await reply.ended()
  t.strictSame(reply.messages.map(({ method }) => method), [
    'notifications/progress', 'elicitation/create', 'notifications/progress', undefined
  ])
})

t.test('a missing client capability is a tool error that names it (331, 332, 343, 344)', async (t) => {
  const session = await open(t, { capabilities: {} })
  for (
    const [name, lacking] of [
      ['form', 'elicitation'], ['url', 'elicitation'], ['sample', 'sampling'], ['roots', 'roots'],
      ['both', 'roots'], ['needs', 'sampling'], ['needs_form', 'elicitation']
    ] as const
  ) {
    const { status, messages, result } = await session.call(name)
    t.strictSame([status, messages.length, result?.isError], [200, 1, true], name)
    t.match(result?.content[0].text, lacking)
  }
  t.equal(
    textOf(await session.call('tries')),
    'ToolError: This cannot be done with this client: it lacks elicitation. Use a client that has it.',
    'a handler can catch the error'
  )
  for (
    const [method, params] of [
      ['prompts/get', { name: 'ask' }], ['resources/read', { uri: 'test:roots' }]
    ] as const
  ) {
    const { status, error } = await session.request(method, params)
    t.equal(status, 200)
    t.match(error.message, /it lacks (?:elicitation|roots)/, method)
    t.notMatch(error.code, /^-3202/)
  }
})

t.test('an elicitation capability without a mode means forms (331, 356)', async (t) => {
  for (const revision of ['2025-06-18', '2025-11-25']) {
    const session = await open(t, { revision, capabilities: { elicitation: {} } })
    t.strictSame(valueOf((await callAndAnswer(session, 'form', LARGE)).reply), LARGE)
    t.equal((await session.call('url')).result.isError, true, 'and not by URL')
    t.equal(textOf(await session.call('needs_form')), 'ok')
  }
})

t.test('a client\'s error becomes a tool error, and only the log has its cause (332)', async (t) => {
  const { logger, text } = createReadableLog()
  const session = await open(t, {}, { logger })
  const reply = await session.startCall('form')
  const { id } = await reply.next()
  t.equal(
    (
      await session.post({ jsonrpc: '2.0', id, error: { code: -1, message: 'User said no, hunter2' } })
    ).status,
    202
  )
  t.equal((await reply.ended()).result.isError, true)
  t.notMatch(textOf(reply), /hunter2/)
  t.match(text(), /hunter2/)
})

t.test('asks again at most twice if an answer does not fit (332)', async (t) => {
  const session = await open(t)
  const reply = await session.startCall('form')
  const wrong = [{ action: 'accept', content: { size: 'XXL' } }, { action: 'perhaps' }]
  for (const answer of wrong) await session.answer((await reply.next()).id, answer)
  await session.answer((await reply.next()).id, LARGE)
  t.strictSame(valueOf(await reply.ended()), LARGE)
  t.equal(new Set(reply.messages.map(({ id }) => id)).size, 4)

  const stubborn = await session.startCall('form')
  for (const answer of [null, [], 'L']) {
    t.equal((await session.answer((await stubborn.next()).id, answer)).status, 202)
  }
  t.equal((await stubborn.ended()).result.isError, true)
})

t.test('a client that does not answer in time causes a tool error (332)', async (t) => {
  const session = await open(t, {}, { requestStateTtlMs: 1000 })
  const reply = await session.startCall('form')
  const { id } = await reply.next()
  t.match((await reply.ended()).result, { isError: true })
  t.equal((await session.answer(id, LARGE)).status, 400, 'a late answer is refused')
})

t.test('the time that the client takes does not count against the timeout', async (t) => {
  const session = await open(t, {}, { requestTimeoutMs: 300 })
  for (const name of ['form', 'later', 'speaks']) {
    const reply = await session.startCall(name)
    const question = await reply.next()
    // The pause must be longer than the timeout.
    await pause(500)
    await session.answer(question.id, LARGE)
    t.strictSame(valueOf(await reply.ended()), LARGE, name)
  }
  const { reply } = await callAndAnswer(session, 'dawdles', LARGE)
  t.match(textOf(reply), /did not finish within 300 ms/, 'the timeout counts again after the answer')
})

t.test('a call that waits for an answer can be cancelled (334)', async (t) => {
  const session = await open(t)
  const reply = await session.startCall('waits', {}, { id: 'w' })
  const { id } = await reply.next()
  await session.notify('notifications/cancelled', { requestId: 'w' })
  await reply.ended()
  t.strictSame(reply.messages.map(({ method }) => method), ['elicitation/create', 'notifications/cancelled'])
  t.equal((await stateOf(session)).aborted, 1)
  t.equal((await session.answer(id, LARGE)).status, 400)
})

t.test('refuses an answer to an unknown question, and other calls go on (332)', async (t) => {
  const session = await open(t)
  const waiting = await session.startCall('form')
  const { id } = await waiting.next()
  const stranger = await openSession(t, session.url)
  for (const other of ['unknown', 1, null, undefined, {}, '__proto__', '']) {
    const { status } = await session.answer(other, LARGE)
    t.ok(status >= 400 && status < 500, `${JSON.stringify(other)}: ${status}`)
  }
  t.equal((await stranger.answer(id, LARGE)).status, 400, 'of another session')
  t.equal((await session.answer(id, LARGE)).status, 202)
  t.equal((await session.answer(id, { action: 'decline' })).status, 400, 'a second answer')
  t.strictSame(valueOf(await waiting.ended()), LARGE)
})

t.test('a deeply nested answer is refused, and the question can still be answered (332)', async (t) => {
  const session = await open(t, {}, { requestStateTtlMs: 5000 })
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  for (const member of ['result', 'error']) {
    const reply = await session.startCall('form')
    const { id } = await reply.next()
    const { status } = await (
      await session.post(`{"jsonrpc":"2.0","id":"${id}","${member}":${deep}}`)
    ).ended()
    t.equal(status, 400, member)
    t.equal((await session.answer(id, LARGE)).status, 202)
    await reply.ended(2000)
    t.equal((await session.request('ping')).status, 200)
  }
})

t.test('a session has a limited number of calls that wait for an answer', async (t) => {
  const session = await open(t)
  const waiting = await Promise.all(Array.from({ length: 50 }, async () => await session.startCall('form')))
  const [first] = await Promise.all(waiting.map(async (reply) => await reply.next()))
  for (const reply of waiting.slice(1)) reply.close()
  const refused = await session.call('form')
  t.equal(refused.result.isError, true)
  t.match(textOf(refused), /Too many questions that wait for an answer in this session \(50\)/)
  const other = await openSession(t, session.url)
  t.equal((await (await other.startCall('form')).next()).method, 'elicitation/create', 'another session asks')
  await session.answer(first.id, LARGE)
  t.equal((await (await session.startCall('form')).next()).method, 'elicitation/create', 'and this one again')
})

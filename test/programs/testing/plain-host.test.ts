// A plain host in a test of a catalog: a client that has neither tasks nor elicitation.

import t from 'tap'
import type { TestQuestion } from '../../../src/testing.ts'
import { toFiles } from '../../features/tasks/task-client.ts'
import { open } from './open.ts'

const FIELDS = {
  size: { type: 'string', oneOf: [{ const: 'S', title: 'Small' }, { const: 'L', title: 'Large' }] },
  icing: { type: 'boolean', default: true, description: 'Whether it has icing.' },
  tiers: { type: 'integer', minimum: 1, maximum: 5, title: 'Tiers' },
  extras: { type: 'array', items: { type: 'string', enum: ['nuts', 'cream'] }, maxItems: 2 },
  note: { type: 'string', maxLength: 20, description: 'A text on it.\nOptional.' }
}
const CAKE_MESSAGE = 'Which cake?\n\nQuestion "pay": none.'
const CAKE = `elicit.form({ message: ${JSON.stringify(CAKE_MESSAGE)}, schema: { type: 'object', ` +
  `properties: ${JSON.stringify(FIELDS)}, required: ['size', 'tiers'] } })`
const PAY = "elicit.url({ message: 'Pay here', url: 'https://pay.example/1' })"
const FORM = "elicit.form({ message: 'Send it?', schema: { type: 'object', properties: {} } })"
const FILES = toFiles({
  cake: ["task: 'allowed', relayQuestions: true", `async (_, ctx) => {
    const { cake, pay } = await ctx.ask({ cake: ${CAKE}, pay: ${PAY} })
    return { cake: cake.content ?? cake.action, pay: pay.action } }`],
  secret: ["task: 'allowed'", `async (_, ctx) => (await ctx.ask({ go: ${FORM} })).go.action`],
  send: ["task: 'allowed', relayQuestions: true, ttlMs: 172_800_000", `async (_, ctx) => {
    await ctx.sleep(86_400_000); const { go } = await ctx.ask({ go: ${FORM} }); return go.action }`],
  slow: ["task: 'allowed'", `async (_, ctx) => {
    ctx.progress(1, 2, 'half'); return await new Promise((done) => setTimeout(done, 100, "done")) }`],
  breaks: ["task: 'allowed'", `async (_, ctx) => {
    await ctx.step('a', () => 1); throw new Error('a fault') }`]
})
const GIVEN = { size: 'L', tiers: 2, extras: ['nuts'] }
const ACCEPT = { action: 'accept' } as const

t.test('a call has its result, however long it takes', async (t) => {
  const catalog = await open(t, FILES, { taskWaitMs: 10, taskGraceMs: 10 })
  const plain = catalog.as({ host: 'plain' })
  const { text, isError, progress } = await plain.call('slow')
  t.strictSame([text, isError, progress], ['done', false, [{ progress: 1, total: 2, message: 'half' }]])
  t.equal((await catalog.as({}, { capabilities: {} }).call('slow')).text, 'done', 'any client without tasks')
  await t.rejects(plain.call('breaks'), { name: 'RequestError', code: -32603 })
})

t.test('answers of the test are passed on', async (t) => {
  const catalog = await open(t, FILES)
  const ada = catalog.as({ subject: 'ada', host: 'plain' })
  const answers = { cake: { ...ACCEPT, content: GIVEN }, pay: ACCEPT }
  const { structuredContent } = await ada.call('cake', {}, { answers })
  t.strictSame(structuredContent, { cake: { icing: true, ...GIVEN }, pay: 'accept' })
  const declined = await ada.call('cake', {}, { answers: { cake: { action: 'decline' }, pay: ACCEPT } })
  t.strictSame(declined.structuredContent, { cake: 'decline', pay: 'accept' })
  const stopped = await ada.call('cake', {}, { answers: { cake: { action: 'cancel' }, pay: ACCEPT } })
  t.match(stopped, { isError: true, text: /was cancelled/ })
  await t.rejects(ada.call('cake', {}, { answers: { pya: ACCEPT }, answer: () => ({ action: 'decline' }) }), {
    name: 'AnswerError', keys: ['pya']
  })
})

t.test('a question is what the text says', async (t) => {
  const catalog = await open(t, FILES)
  const questions: TestQuestion[] = []
  const contents = [{ size: 'XL' }, GIVEN]
  await catalog.as({ host: 'plain' }).call('cake', {}, {
    answer (question) {
      questions.push(question)
      return question.kind === 'url' ? ACCEPT : { ...ACCEPT, content: contents.shift() ?? {} }
    }
  })
  const [cake, pay, again] = questions
  t.strictSame(pay, {
    key: 'pay',
    kind: 'url',
    message: 'Pay here',
    params: { mode: 'url', message: 'Pay here', url: 'https://pay.example/1' }
  })
  t.strictSame(cake, {
    key: 'cake',
    kind: 'form',
    message: CAKE_MESSAGE,
    params: {
      mode: 'form',
      message: CAKE_MESSAGE,
      requestedSchema: {
        type: 'object',
        properties: {
          size: { oneOf: [{ const: 'S', title: 'Small' }, { const: 'L', title: 'Large' }] },
          icing: { type: 'boolean', description: 'Whether it has icing.', default: true },
          tiers: { type: 'integer', description: 'at least 1 and at most 5. Tiers' },
          extras: {
            type: 'array',
            items: { oneOf: [{ const: 'nuts' }, { const: 'cream' }] },
            description: 'at most 2 choices'
          },
          note: { type: 'string', description: 'at most 20 characters. A text on it.\nOptional.' }
        },
        required: ['size', 'tiers']
      }
    }
  })
  t.strictSame(again, cake, 'asked again for an answer that does not fit')
})

t.test('a question without an answer, or with one that does not fit, rejects', async (t) => {
  const catalog = await open(t, FILES)
  const plain = catalog.as({ host: 'plain' })
  await t.rejects(plain.call('cake'), { name: 'QuestionError', message: /"cake" \(form\): Which cake\?/ })
  const answers = { cake: { ...ACCEPT, content: { size: 'XL' } }, pay: ACCEPT }
  await t.rejects(plain.call('cake', {}, { answers }), { name: 'QuestionError', message: /does not fit/ })
  await t.rejects(plain.call('secret'), { name: 'RequestError', code: -32021 })
})

t.test('a call that was begun sleeps until the clock is moved, and is answered', async (t) => {
  const catalog = await open(t, FILES, { taskWaitMs: 50 })
  const plain = catalog.as({ host: 'plain' })
  const begun = await plain.begin('send')
  catalog.advance(86_400_000)
  t.match(await begun.result({ answers: { go: ACCEPT } }), { text: 'accept' })
  const asked = await plain.begin('send')
  catalog.advance(86_400_000)
  await t.rejects(asked.result(), { name: 'QuestionError', message: /Send it\?/ })
  await asked.update({ go: { action: 'decline' } })
  t.match(await asked.result(), { text: 'decline' })
  await t.rejects(asked.get(), { name: 'RequestError', code: -32021 })
  const cancelled = await plain.begin('send')
  await cancelled.cancel()
  t.match(await cancelled.result(), { isError: true, text: /was cancelled/ })
  const other = await plain.begin('send')
  await other.cancel()
  await t.rejects(other.result({ answers: { none: ACCEPT } }), { name: 'AnswerError' })
  await t.rejects(plain.begin('slow'), { message: /^slow made no task/ })
})

t.test('the tool that continues calls can be called by itself', async (t) => {
  const catalog = await open(t, FILES, { taskWaitMs: 10 })
  const plain = catalog.as({ host: 'plain' })
  const { id } = await plain.begin('send')
  t.match(await plain.call('continue_call', { call: id }), { text: /send is still at work/ })
  t.match(await catalog.as({ subject: 'ada' }).call('continue_call', { call: id }), { isError: true })
})

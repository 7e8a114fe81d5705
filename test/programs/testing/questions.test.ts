// Questions of handlers, and the answers of tests.

import t from 'tap'
import { AnswerError, type TestQuestion } from '../../../src/testing.ts'
import { Answers } from '../../../src/programs/testing/answered-rounds.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { open, toModule } from './open.ts'

const SIZE = "elicit.form({ message: 'Which size?', schema: { type: 'object', " +
  "properties: { size: { type: 'string', enum: ['S', 'L'] } }, required: ['size'] } })"
const FILES = {
  'tools/order.ts': toModule(`export default defineTool({ name: 'order', async run (_, ctx) {
    ctx.log.info('begin')
    const { size } = await ctx.ask({ size: ${SIZE} })
    if (size.action !== 'accept') return size.action
    const { pay } = await ctx.ask({ pay: elicit.url({ message: 'Pay here', url: 'https://pay.example' }) })
    return size.content.size + ' ' + pay.action
  } })
  export const all = defineTool({ name: 'all', async run (_, ctx) {
    const question = { messages: [{ role: 'user', content: { type: 'text', text: 'Sum up' } }], maxTokens: 9 }
    const { text, where } = await ctx.ask({ text: sample(question), where: roots() })
    return text.content.text + ' ' + where.roots[0].uri
  } })`),
  'prompts/p.ts': toModule(`export const p = definePrompt({ name: 'p', async render (_, ctx) {
    const { size } = await ctx.ask({ size: ${SIZE} })
    return size.action
  } })`),
  'resources/r.resource.ts': toModule(`export const r = defineResource({ uri: 'x://r', name: 'r', async read (ctx) {
    const { size } = await ctx.ask({ size: ${SIZE} })
    return size.action
  } })`)
}

const LARGE = { action: 'accept', content: { size: 'L' } } as const

t.test('answers by key, over several rounds', async (t) => {
  const catalog = await open(t, FILES)
  const ada = catalog.as({ subject: 'ada' })
  const { text, logs } = await ada.call('order', {}, { answers: { size: LARGE, pay: { action: 'accept' } } })
  t.equal(text, 'L accept')
  t.equal(logs.length, 3, 'the handler has run three times')
  t.equal((await ada.call('order', {}, { answers: { size: { action: 'decline' } } })).text, 'decline')
  t.equal((await ada.prompt('p', {}, { answers: { size: { action: 'cancel' } } })).text, 'cancel')
  t.equal((await ada.read('x://r', { answers: { size: LARGE } })).text, 'accept')
})

t.test('answers by a function, which is told of each question', async (t) => {
  const catalog = await open(t, FILES)
  const questions: TestQuestion[] = []
  const { text } = await catalog.call('all', {}, {
    answer (question) {
      questions.push(question)
      return question.kind === 'roots'
        ? { roots: [{ uri: 'file:///home' }] }
        : { role: 'assistant', content: { type: 'text', text: 'Short.' }, model: 'm' }
    }
  })
  t.equal(text, 'Short. file:///home')
  t.match(questions, [
    { key: 'text', kind: 'sample', message: 'Sum up', params: { maxTokens: 9 } },
    { key: 'where', kind: 'roots', message: '' }
  ])
  const sizes = ['XL', 'L']
  const order = await catalog.call('order', {}, {
    answers: { pay: { action: 'decline' } },
    answer: async () => ({ action: 'accept', content: { size: sizes.shift() ?? '' } })
  })
  t.equal(order.text, 'L decline', 'and asked again for an answer that does not fit')
  t.strictSame(sizes, [])
})

t.test('a question without an answer rejects, and says how to answer it', async (t) => {
  const catalog = await open(t, FILES)
  await t.rejects(catalog.call('order'), {
    name: 'QuestionError',
    question: { key: 'size', kind: 'form', message: 'Which size?' },
    message: 'The handler asks "size" (form): Which size?\nThe test has no answer to it. Answer it in the ' +
      "options of the call: { answers: { size: { action: 'accept', content: { size: … } } } }"
  })
  await t.rejects(catalog.call('order', {}, { answers: { sizes: LARGE } }), {
    misspelt: 'sizes', message: /has no answer to it\. Is the answer "sizes" meant for it\? Answer it/
  })
  await t.rejects(catalog.call('order', {}, { answers: { size: LARGE }, answer: () => undefined }), {
    misspelt: undefined,
    message: /"pay" \(url\): Pay here\n.*\{ pay: \{ action: 'accept' \} \}/
  })
  await t.rejects(catalog.call('all'), { message: /"text" \(sample\): Sum up\n/ })
  await t.rejects(catalog.prompt('p'), { name: 'QuestionError' })
})

t.test('an answer that does not fit rejects', async (t) => {
  const catalog = await open(t, FILES)
  const wrong = { action: 'accept', content: { size: 'XXL' } } as const
  await t.rejects(catalog.call('order', {}, { answers: { size: wrong } }), {
    name: 'QuestionError', message: /does not fit to the schema \{.*"enum":\["S","L"\]/
  })
  await t.rejects(catalog.call('order', {}, { answer: () => wrong }), { message: /does not fit/ })
})

t.test('an answer that no question used rejects', async (t) => {
  const catalog = await open(t, {
    ...FILES,
    'tools/fails.ts': toModule(
      "export default defineTool({ name: 'fails', run () { throw new ToolError('Sold out.') } })"
    )
  })
  const error = await catalog.call('order', {}, { answers: { size: { action: 'decline' }, pya: LARGE } })
    .catch((error: unknown) => error)
  t.type(error, AnswerError)
  t.match(error, {
    name: 'AnswerError', keys: ['pya'], message: 'Answers were not used: "pya". The handler asked "size".'
  })
  await t.rejects(catalog.call('fails', {}, { answers: { size: LARGE } }), {
    message: /The handler asked nothing\. The call ended with a tool error: .*Sold out\./
  })
})

t.test('a client without the capability cannot be asked', async (t) => {
  const catalog = await open(t, { ...FILES, 'tools/plain.ts': toolModule('plain') })
  const plain = catalog.as({}, { capabilities: {} })
  t.equal((await plain.call('plain')).text, 'ok')
  await t.rejects(plain.call('order'), { code: -32021, data: { requiredCapabilities: { elicitation: {} } } })
})

t.test('keeps the answer of a question whose key is __proto__: a server chooses the keys', async (t) => {
  const upload = async (): Promise<never> => { throw new Error('nothing is uploaded') }
  const answers = new Answers({ answer: () => ({ action: 'decline' }) }, upload)
  const request = { method: 'elicitation/create', params: { message: 'Which?', requestedSchema: {} } }
  const requests = Object.fromEntries([['__proto__', request]])
  t.strictSame(Object.entries(await answers.to(requests)), [['__proto__', { action: 'decline' }]])
})

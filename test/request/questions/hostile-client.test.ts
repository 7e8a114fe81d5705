// Random responses and states of a client. A handler must never receive an answer that does not fit, and a
// made-up state must never open.

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { elicit, roots, sample } from '../../../src/platform/author/input-request.ts'
import { ProtocolError } from '../../../src/platform/protocol/errors.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { InputRequired } from '../../../src/request/questions/round-state.ts'
import { createSchemaCompiler } from '../../../src/platform/schema/json-schema.ts'
import { BINDING, createRounds, runRound } from './rounds.ts'

const rounds = createRounds()
const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 5 },
    age: { type: 'integer', minimum: 0, maximum: 9 },
    size: { type: 'string', enum: ['s', 'm'] },
    tags: { type: 'array', items: { type: 'string', enum: ['p', 'q'] }, maxItems: 2 },
    ok: { type: 'boolean' }
  },
  required: ['name', 'size']
} as const
const questions = {
  form: elicit.form({ message: 'm', schema }),
  url: elicit.url({ message: 'm', url: 'https://example.com' }),
  sample: sample({ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 1 }),
  roots: roots()
}

const closed = (required: readonly string[], properties: object) => ({
  type: 'object', required, properties, additionalProperties: false
})
const text = closed(['type', 'text'], { type: { const: 'text' }, text: { type: 'string' } })
/** Written without the code under test: accepts exactly the valid answers of the generators below. */
const answersSchema = closed(['form', 'url', 'sample', 'roots'], {
  form: {
    anyOf: [
      closed(['action'], { action: { enum: ['decline', 'cancel'] } }),
      closed(['action', 'content'], {
        action: { const: 'accept' }, content: { ...schema, additionalProperties: false }
      })
    ]
  },
  url: closed(['action'], { action: { enum: ['accept', 'decline', 'cancel'] } }),
  sample: closed(['role', 'content', 'model'], {
    role: { enum: ['user', 'assistant'] },
    content: { anyOf: [text, { type: 'array', items: text }] },
    model: { type: 'string' },
    stopReason: { type: 'string' }
  }),
  roots: closed(['roots'], {
    roots: {
      type: 'array',
      items: closed(['uri'], { uri: { type: 'string', pattern: '^file://' }, name: { type: 'string' } })
    }
  })
})
const checkAnswers = createSchemaCompiler({ useDefaults: false }).compile(answersSchema)

/** Usually a valid value, sometimes any JSON value. */
const mostly = (valid: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: fc.jsonValue() })
const record = (members: { readonly [key: string]: fc.Arbitrary<unknown> }, requiredKeys: string[]) =>
  mostly(
    fc.record(Object.fromEntries(Object.entries(members).map(([key, value]) => [key, mostly(value)])), {
      requiredKeys
    })
  )

const action = fc.constantFrom('accept', 'decline', 'cancel')
const content = record({
  name: fc.string({ minLength: 1, maxLength: 5 }),
  age: fc.integer({ min: 0, max: 9 }),
  size: fc.constantFrom('s', 'm'),
  tags: fc.array(fc.constantFrom('p', 'q'), { maxLength: 2 }),
  ok: fc.boolean(),
  stranger: fc.string()
}, ['name', 'size'])
const block = record({ type: fc.constant('text'), text: fc.string() }, ['type', 'text'])
const responses = record({
  form: record({ action, content }, ['action', 'content']),
  url: record({ action }, ['action']),
  sample: record(
    {
      role: fc.constantFrom('user', 'assistant'),
      content: fc.oneof(block, fc.array(block, { maxLength: 3 })),
      model: fc.string(),
      stopReason: fc.string()
    },
    ['role', 'content', 'model']
  ),
  roots: record(
    {
      roots: fc.array(record({ uri: fc.constant('file:///x'), name: fc.string() }, ['uri']), { maxLength: 3 })
    },
    ['roots']
  )
}, ['form', 'url', 'sample', 'roots'])

const askAll = async (round: InputRound) => await round.ask(questions)

async function outcomeOf (inputResponses: unknown, requestState?: string) {
  const sent = { inputResponses, requestState }
  return await runRound(rounds, askAll, sent).catch(
    (error: unknown) => ({ value: undefined, error, pending: undefined })
  )
}

t.test('random responses are answers that fit, questions or protocol errors (221, 225)', async (t) => {
  const counts = { answered: 0, asked: 0, refused: 0 }
  const anyResponses = fc.oneof(
    { weight: 8, arbitrary: responses }, { weight: 1, arbitrary: fc.jsonValue() }
  )
  await fc.assert(fc.asyncProperty(anyResponses, async (inputResponses) => {
    const { value, error, pending } = await outcomeOf(inputResponses)
    if (value !== undefined) {
      counts.answered++
      return checkAnswers(value).ok && pending === undefined
    }
    if (error instanceof InputRequired) {
      counts.asked++
      return pending !== undefined
    }
    counts.refused++
    return error instanceof ProtocolError && error.code === -32602
  }), { numRuns: 3000 })
  for (const [outcome, count] of Object.entries(counts)) t.ok(count > 20, `${outcome}: ${count}`)
})

t.test('every answer is the same in the next round (235)', async (t) => {
  let checked = 0
  const another = elicit.form({ message: 'Another?', schema: { type: 'object', properties: {} } })
  const handler = async (round: InputRound) => {
    const answers = await askAll(round)
    await round.ask({ another })
    return answers
  }
  await fc.assert(fc.asyncProperty(responses, async (inputResponses) => {
    const { value } = await outcomeOf(inputResponses)
    if (value === undefined) return
    const first = await runRound(rounds, handler, { inputResponses })
    const second = await runRound(rounds, handler, {
      inputResponses: { another: { action: 'cancel' } }, requestState: first.pending?.requestState
    })
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(second.value)), JSON.parse(JSON.stringify(value)))) {
      throw new Error(JSON.stringify([value, second.value]))
    }
    checked++
  }), { numRuns: 500 })
  t.ok(checked > 20, `${checked} checked`)
})

t.test('every result of `once` is the same in the next round (235)', async () => {
  const handler = (result: unknown) => async (round: InputRound) => {
    const kept = await round.once('k', () => result)
    await round.ask({ url: questions.url })
    return kept
  }
  await fc.assert(fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (result) => {
    const { pending } = await runRound(rounds, handler(result))
    const { value } = await runRound(rounds, handler('another'), {
      inputResponses: { url: { action: 'accept' } }, requestState: pending?.requestState
    })
    return isDeepStrictEqual(value, JSON.parse(JSON.stringify(result)))
  }), { numRuns: 300 })
})

t.test('a state opens only for its own request (216)', async (t) => {
  const some = fc.constantFrom('a', 'b', '', 'a","b', '\ud800', '\ufffd')
  const args = fc.oneof(
    fc.constant({}),
    fc.dictionary(fc.constantFrom('a', 'b', '1', '__proto__'), fc.jsonValue(), { maxKeys: 3 })
  )
  const binding = fc.record({ owner: some, method: some, name: some, args })
  const canonical = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  const counts = { opened: 0, refused: 0 }
  await fc.assert(fc.asyncProperty(binding, binding, fc.boolean(), async (sealedFor, other, isSame) => {
    const openedFor = isSame ? { ...sealedFor, args: reversed(sealedFor.args) } : other
    const { pending } = await runRound(
      rounds, async (round) => [await round.once('k', () => 1), await round.ask({ r: roots() })],
      { binding: sealedFor }
    )
    const opened = await runRound(rounds, () => true, {
      requestState: pending?.requestState, binding: openedFor
    }).then(() => true, (error: unknown) => {
      if (error instanceof ProtocolError && error.code === -32602) return false
      throw error
    })
    counts[opened ? 'opened' : 'refused']++
    return opened === isDeepStrictEqual(canonical(sealedFor), canonical(openedFor))
  }), { numRuns: 1000 })
  t.ok(counts.opened > 100 && counts.refused > 100, JSON.stringify(counts))
})

/** The same members in the opposite order. */
function reversed (object: object): object {
  return Object.fromEntries(Object.entries(object).reverse())
}

t.test('a made-up or changed state is a protocol error (214, 215)', async () => {
  const { pending } = await runRound(rounds, async (round) => [
    await round.once('k', () => 1), await round.ask({ r: roots() })
  ])
  const state = pending?.requestState ?? ''
  const changed = fc.tuple(fc.nat(state.length), fc.nat(3), fc.string({ maxLength: 3 })).map(
    ([at, removed, added]) => state.slice(0, at) + added + state.slice(at + removed)
  )
  const anyState = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), changed)
  await fc.assert(fc.asyncProperty(anyState, async (requestState) => {
    if (requestState === state) return
    const error: unknown = await runRound(rounds, () => 'done', { requestState, binding: BINDING }).then(
      () => 'opened', (error: unknown) => error
    )
    if (!(error instanceof ProtocolError) || error.code !== -32602) {
      throw new Error('not refused', { cause: error })
    }
  }), { numRuns: 1000 })
})

import t from 'tap'
import { z } from 'zod'
import { elicit, roots } from '../../../src/platform/author/input-request.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { InputRequired } from '../../../src/request/questions/round-state.ts'
import { alice, askName, capital, color, name, page, paris, red } from './question-examples.ts'
import { converse, createRounds, runRound } from './rounds.ts'

const rounds = createRounds()

t.test('a missing answer ends the round, and a retry has the answer (208, 210, 211)', async (t) => {
  const first = await runRound(rounds, askName)
  t.ok(first.error instanceof InputRequired)
  t.same(first.pending, {
    inputRequests: {
      name: {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
        }
      }
    }
  }, 'no state is sent while it is empty')
  const second = await runRound(rounds, askName, { inputResponses: { name: alice } })
  t.same(second, { value: alice, pending: undefined })
})

t.test('each kind of question gets its own kind of answer (208)', async (t) => {
  const everything = { name, page, capital, roots: roots() }
  const answers = {
    name: alice,
    page: { action: 'accept' },
    capital: paris,
    roots: { roots: [{ uri: 'file:///test/root', name: 'Test Root' }, { uri: 'file:///other' }] }
  }
  const [first, second, ...rest] = await converse(
    rounds, async (round) => await round.ask(everything), answers
  )
  t.same(Object.entries(first?.pending?.inputRequests ?? {}).map(([key, { method }]) => [key, method]),
    [
      ['name', 'elicitation/create'], ['page', 'elicitation/create'], ['capital', 'sampling/createMessage'],
      ['roots', 'roots/list']
    ])
  t.strictSame(second?.value, answers)
  t.same(rest, [])
})

t.test('decline and cancel are answers (224)', async (t) => {
  for (const action of ['decline', 'cancel']) {
    const { value } = await runRound(rounds, async (round) => await round.ask({ name, page }), {
      inputResponses: { name: { action, content: { name: 'x' } }, page: { action } }
    })
    t.strictSame(value, { name: { action }, page: { action } })
  }
})

t.test('the handler does not receive members that an answer does not have (222)', async (t) => {
  const handler = async (round: InputRound) => await round.ask({ name, page, capital, r: roots() })
  const { value } = await runRound(rounds, handler, {
    inputResponses: {
      stranger: { action: 'accept' },
      name: { ...alice, content: { name: 'Alice', role: 'admin' }, _meta: {}, extra: 1 },
      page: { action: 'accept', content: { x: 1 } },
      capital: { ...paris, _meta: {}, extra: 1 },
      r: { roots: [{ uri: 'file:///x', _meta: {} }], extra: 1 }
    }
  })
  t.strictSame(value, {
    name: alice, page: { action: 'accept' }, capital: paris, r: { roots: [{ uri: 'file:///x' }] }
  })
})

t.test('a response that does not fit its question is asked for again (221, 223, 225)', async (t) => {
  const misfits: ReadonlyArray<readonly [key: string, responses: readonly unknown[]]> = [
    [
      'name',
      [
        undefined, null, 12345, 'Alice', [], {}, { content: { name: 'Alice' } }, { action: 'accept' },
        { action: 'yes', content: { name: 'x' } }, { action: 'accept', content: null },
        { action: 'accept', content: [] }, { action: 'accept', content: {} },
        { action: 'accept', content: { name: 5 } }, { action: 'accept', content: { name: ['x'] } }
      ]
    ],
    ['color', [{ action: 'accept', content: { color: 'green' } }]],
    ['page', [null, {}, { action: 'open' }]],
    [
      'capital',
      [
        null, alice, { ...paris, role: 'system' }, { ...paris, content: 'Paris' },
        { ...paris, content: { type: 'video' } }, { ...paris, model: undefined },
        { ...paris, content: [{ type: 'text' }] }
      ]
    ],
    [
      'r',
      [
        null, {}, { roots: {} }, { roots: [{}] }, { roots: [{ uri: 'https://example.com' }] },
        { roots: [{ uri: 'file:///x', name: 1 }] }
      ]
    ]
  ]
  const everything = { name, color, page, capital, r: roots() }
  const answers = { name: alice, color: red, page: { action: 'cancel' }, capital: paris, r: { roots: [] } }
  for (const [key, responses] of misfits) {
    for (const response of responses) {
      const { pending, value } = await runRound(rounds, async (round) => await round.ask(everything), {
        inputResponses: { ...answers, [key]: response }
      })
      t.equal(value, undefined)
      t.same(Object.keys(pending?.inputRequests ?? {}), [key], JSON.stringify(response))
    }
  }
  t.strictSame(
    (await runRound(rounds, async (round) => await round.ask(everything), { inputResponses: answers })).value,
    answers
  )
})

t.test('an answer that is nested too deeply is asked for again', async (t) => {
  let deep: unknown = {}
  for (let depth = 0; depth < 20_000; depth++) deep = { deep }
  const use = { type: 'tool_use', id: '1', name: 'x', input: deep }
  for (
    const [request, response] of [
      [capital, { ...paris, content: [use] }], [name, { action: 'accept', content: { name: deep } }]
    ] as const
  ) {
    const { pending } = await runRound(rounds, async (round) => await round.ask({ k: request }), {
      inputResponses: { k: response }
    })
    t.same(Object.keys(pending?.inputRequests ?? {}), ['k'])
  }
})

t.test('a number that JSON cannot write is asked for again', async (t) => {
  const n = elicit.form({
    message: 'How many?', schema: { type: 'object', properties: { n: { type: 'number' } } }
  })
  const { pending } = await runRound(rounds, async (round) => await round.ask({ n }), {
    inputResponses: JSON.parse('{"n":{"action":"accept","content":{"n":1e999}}}')
  })
  t.ok(pending)
})

t.test('responses that are not an object are invalid params (221)', async (t) => {
  for (const inputResponses of [null, 1, 'x', [], true]) {
    await t.rejects(runRound(rounds, () => 'done', { inputResponses }), {
      code: -32602, message: /inputResponses must be an object/
    })
  }
})

t.test('a first request may already have answers (220)', async (t) => {
  t.strictSame((await runRound(rounds, async (round) => {
    const { name: first } = await round.ask({ name })
    const { color: second } = await round.ask({ color })
    return [first, second]
  }, { inputResponses: { name: alice, color: red } })).value, [alice, red])
})

t.test('a form without required fields may be accepted without content', async (t) => {
  const empty = elicit.form({
    message: 'Sure?', schema: { type: 'object', properties: { note: { type: 'string', default: 'none' } } }
  })
  const { value } = await runRound(rounds, async (round) => await round.ask({ empty }), {
    inputResponses: { empty: { action: 'accept' } }
  })
  t.strictSame(
    value, { empty: { action: 'accept', content: {} } }, 'only the client fills in a default'
  )
})

t.test('a schema of a library checks and transforms the answer, in each round (225)', async (t) => {
  const size = elicit.form({
    message: 'Size?',
    schema: z.object({ size: z.string().regex(/^\d+$/).transform(Number), unit: z.string().default('cm') })
  })
  const handler = async (round: InputRound) => {
    const first = await round.ask({ size })
    await round.ask({ name })
    return first.size
  }
  const refused = await runRound(rounds, handler, {
    inputResponses: { size: { action: 'accept', content: { size: 'large' } } }
  })
  t.ok(refused.pending?.inputRequests.size, 'asked again for a value that the library refuses')
  const endings = await converse(rounds, handler, {
    size: { action: 'accept', content: { size: '42' } }, name: alice
  })
  t.strictSame(endings.map(({ value }) => value), [
    undefined, undefined, { action: 'accept', content: { size: 42, unit: 'cm' } }
  ])
})

t.test('all questions of a round are asked, also with asynchronous schemas (225)', async (t) => {
  const slow = (message: string) => elicit.form({
    message, schema: z.object({ n: z.string().refine(async (n) => await Promise.resolve(n === 'good')) })
  })
  const handler = async (round: InputRound) => await Promise.all([
    round.ask({ name }), round.ask({ a: slow('a') }), round.ask({ b: slow('b') })
  ])
  const answer = (n: string) => ({ action: 'accept', content: { n } })
  const { pending } = await runRound(rounds, handler, {
    inputResponses: { a: answer('bad'), b: answer('good') }
  })
  t.same(Object.keys(pending?.inputRequests ?? {}).sort(), ['a', 'name'])
  const { value } = await runRound(rounds, handler, {
    inputResponses: { a: answer('good'), name: alice }, requestState: pending?.requestState
  })
  t.strictSame(value, [{ name: alice }, { a: answer('good') }, { b: answer('good') }])
})

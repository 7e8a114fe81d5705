import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { z } from 'zod'
import { elicit, roots, sample } from '../../src/authoring/input-request.ts'
import { InputRequired } from '../../src/input/round-state.ts'
import type { InputRound, RoundBinding } from '../../src/input/input-round.ts'
import { createSealer } from '../../src/sealing/sealer.ts'
import { ProtocolError } from '../../src/protocol/errors.ts'
import type { ClientCapabilities } from '../../src/protocol/capabilities.ts'
import { within } from '../helpers/deadline.ts'
import { BINDING, converse, createRounds, runRound, TTL_MS } from './rounds.ts'

const rounds = createRounds()
const name = elicit.form({
  message: 'Your name?',
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
})
const color = elicit.form({
  message: 'Your color?',
  schema: {
    type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] } }, required: ['color']
  }
})
const page = elicit.url({ message: 'Pay here', url: 'https://example.com/pay' })
const capital = sample({
  messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }], maxTokens: 100
})

const alice = { action: 'accept', content: { name: 'Alice' } } as const
const red = { action: 'accept', content: { color: 'red' } } as const
const paris = {
  role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm', stopReason: 'endTurn'
} as const

const askName = async (round: InputRound) => (await round.ask({ name })).name
const never = () => { throw new Error('was called again') }

t.test('what is missing ends the round, and the handler gets past the question once it is answered (208, ' +
  '210, 211)', async (t) => {
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
  }, 'and no state is sent while there is nothing to carry')
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

t.test('what came beside the answers does not reach the handler (222)', async (t) => {
  const { value } = await runRound(rounds, async (round) => await round.ask({
    name, page, capital, r: roots()
  }), {
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

t.test('a response that does not fit is asked for again (221, 223, 225)', async (t) => {
  const misfits: ReadonlyArray<readonly [key: string, responses: readonly unknown[]]> = [
    ['name', [undefined, null, 12345, 'Alice', [], {}, { content: { name: 'Alice' } }, { action: 'accept' }, {
      action: 'yes', content: { name: 'x' }
    }, { action: 'accept', content: null },
    { action: 'accept', content: [] }, { action: 'accept', content: {} }, {
      action: 'accept', content: { name: 5 }
    }, { action: 'accept', content: { name: ['x'] } }]],
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

t.test('an answer nested without end is asked for again', async (t) => {
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

t.test('responses that are no object are invalid params (221)', async (t) => {
  for (const inputResponses of [null, 1, 'x', [], true]) {
    await t.rejects(runRound(rounds, () => 'done', { inputResponses }), {
      code: -32602, message: /inputResponses must be an object/
    })
  }
})

t.test('answers that come cold count, without a round before them (220)', async (t) => {
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
    value, { empty: { action: 'accept', content: {} } }, 'and a default is the client\'s to fill in'
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
  t.ok(
    (
      await runRound(rounds, handler, {
        inputResponses: { size: { action: 'accept', content: { size: 'large' } } }
      })
    ).pending?.inputRequests.size,
    'asked again where the library refuses'
  )
  const endings = await converse(rounds, handler, {
    size: { action: 'accept', content: { size: '42' } }, name: alice
  })
  t.strictSame(endings.map(({ value }) => value), [
    undefined, undefined, { action: 'accept', content: { size: 42, unit: 'cm' } }
  ])
})

t.test('a schema that checks asynchronously is waited for, so that all questions of a round are asked ' +
  '(225)', async (t) => {
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

t.test('earlier answers are carried from round to round, in a state that differs each time (235)', async (
  t
) => {
  const handler = async (round: InputRound) => {
    const { name: first } = await round.ask({ name })
    const { color: second } = await round.ask({ color })
    const { capital: third } = await round.ask({ capital })
    return [first, second, third]
  }
  const endings = await converse(rounds, handler, { name: alice, color: red, capital: paris })
  t.same(endings.map(({ pending }) => Object.keys(pending?.inputRequests ?? {})), [
    ['name'], ['color'], ['capital'], []
  ])
  const states = endings.map(({ pending }) => pending?.requestState)
  t.equal(states[0], undefined)
  t.ok(states[1] !== undefined && states[2] !== undefined && states[1] !== states[2])
  t.strictSame(endings.at(-1)?.value, [alice, red, paris])
})

t.test('a carried answer counts before one that is sent again', async (t) => {
  const handler = async (round: InputRound) => [await round.ask({ name }), await round.ask({ color })]
  const { pending } = await runRound(rounds, handler, { inputResponses: { name: alice } })
  const { value } = await runRound(rounds, handler, {
    inputResponses: { name: { action: 'accept', content: { name: 'Mallory' } }, color: red },
    requestState: pending?.requestState
  })
  t.strictSame(value, [{ name: alice }, { color: red }])
})

t.test('a carried answer that does not fit what is asked now is asked for again (225)', async (t) => {
  const ask = (request: typeof name | typeof color) => async (round: InputRound) => [
    await round.ask({ k: request }), await round.ask({ name })
  ]
  const { pending } = await runRound(rounds, ask(color), { inputResponses: { k: red } })
  t.same(
    Object.keys(
      (await runRound(rounds, ask(name), { requestState: pending?.requestState })).pending?.inputRequests ??
        {}
    ),
    ['k']
  )
  t.same(
    Object.keys(
      (await runRound(rounds, ask(color), { requestState: pending?.requestState })).pending?.inputRequests ??
        {}
    ),
    ['name']
  )
})

t.test('what a handler does to an answer is not carried', async (t) => {
  const sizes = elicit.form({
    message: 'm',
    schema: {
      type: 'object',
      properties: { s: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } },
      required: ['s']
    }
  })
  const seen: string[] = []
  await converse(rounds, async (round) => {
    const { k } = await round.ask({ k: sizes })
    seen.push(JSON.stringify(k))
    if (k.action === 'accept') k.content.s.push('b')
    await round.ask({ name })
  }, { k: { action: 'accept', content: { s: ['a'] } }, name: alice })
  t.same(seen, ['{"action":"accept","content":{"s":["a"]}}', '{"action":"accept","content":{"s":["a"]}}'])
})

t.test('two calls side by side ask for both, and one answered half is asked for the other half (223)', async (
  t
) => {
  const handler = async (round: InputRound) => await Promise.all([
    round.ask({ name }), round.ask({ color }), round.ask({ name, page })
  ])
  const first = await runRound(rounds, handler)
  t.same(Object.keys(first.pending?.inputRequests ?? {}).sort(), ['color', 'name', 'page'])
  const second = await runRound(rounds, handler, { inputResponses: { color: red, wrong_key: alice } })
  t.same(Object.keys(second.pending?.inputRequests ?? {}).sort(), ['name', 'page'])
  const third = await runRound(rounds, handler, {
    inputResponses: { name: alice, page: { action: 'accept' } }, requestState: second.pending?.requestState
  })
  t.strictSame(third.value, [{ name: alice }, { color: red }, { name: alice, page: { action: 'accept' } }])
})

t.test('the same question asked twice in a run gets the same answer, and another under its key is the ' +
  'author\'s mistake (211)', async (t) => {
  const twice = await runRound(
    rounds, async (round) => [await round.ask({ name }), await round.ask({ name })],
    { inputResponses: { name: alice } }
  )
  t.strictSame(twice.value, [{ name: alice }, { name: alice }])
  for (const inputResponses of [{ k: alice }, undefined]) {
    const { error } = await runRound(rounds, async (round) => {
      await round.ask({ k: name }).catch(() => {})
      await round.ask({ k: color })
    }, { inputResponses })
    t.match(error, {
      message: 'ask, "k": this key already names another question of this request; give each question a ' +
        'key of its own'
    })
  }
})

t.test('keys may be named like members of every object (211)', async (t) => {
  const handler = async (round: InputRound) => {
    const answers = await round.ask({ ['__proto__']: name, constructor: name, toString: name })
    await round.ask({ hasOwnProperty: color })
    return Object.entries(answers)
  }
  const first = await runRound(rounds, handler, { inputResponses: {} })
  t.same(Object.keys(first.pending?.inputRequests ?? {}), ['__proto__', 'constructor', 'toString'])
  const given = Object.fromEntries(['__proto__', 'constructor', 'toString'].map((key) => [key, alice]))
  const second = await runRound(rounds, handler, { inputResponses: given })
  t.same(Object.keys(second.pending?.inputRequests ?? {}), ['hasOwnProperty'])
  const third = await runRound(rounds, handler, {
    inputResponses: { hasOwnProperty: red }, requestState: second.pending?.requestState
  })
  t.strictSame(third.value, Object.entries(given))
})

t.test('whatever the handler does after the rejection, what is asked stays asked (208)', async (t) => {
  const swallowed = await runRound(
    rounds, async (round) => await round.ask({ name }).catch(() => 'never mind')
  )
  t.equal(swallowed.value, 'never mind')
  t.ok(swallowed.pending?.inputRequests.name)
  const disguised = await runRound(
    rounds, async (round) => await round.ask({ name }).catch(() => { throw new Error('other') })
  )
  t.match(disguised.error, { message: 'other' })
  t.ok(disguised.pending?.inputRequests.name)
})

t.test('a question that nobody waits for does not end the process', async (t) => {
  const seen: unknown[] = []
  const listener = (reason: unknown) => { seen.push(reason) }
  process.on('unhandledRejection', listener)
  t.teardown(() => process.off('unhandledRejection', listener))
  const { pending } = await runRound(rounds, (round) => {
    round.ask({ name })
    round.ask({ k: elicit.url({ message: '', url: '' }) })
    return 'done'
  })
  await nextTurn()
  t.ok(pending)
  t.same(seen, [])
})

t.test('a question that the client cannot be asked is -32021, which names exactly what is missing (90, ' +
  '212, 213, 233)', async (t) => {
  const withTools = sample({ ...base, tools: [{ name: 'x', inputSchema: { type: 'object' } }] })
  const withChoice = sample({ ...base, toolChoice: { mode: 'none' } })
  const withContext = sample({ ...base, includeContext: 'allServers' })
  const withoutContext = sample({ ...base, includeContext: 'none' })
  const cases: ReadonlyArray<readonly [
    declared: ClientCapabilities, request: object, missing: ClientCapabilities | undefined
  ]> = [
    [{}, { name }, { elicitation: { form: {} } }],
    [{ elicitation: {} }, { name }, undefined],
    [{ elicitation: { form: {} } }, { name }, undefined],
    [{ elicitation: { url: {} } }, { name }, { elicitation: { form: {} } }],
    [{}, { page }, { elicitation: { url: {} } }],
    [{ elicitation: {} }, { page }, { elicitation: { url: {} } }],
    [{ elicitation: { form: {} } }, { page }, { elicitation: { url: {} } }],
    [{ elicitation: { url: {} } }, { page }, undefined],
    [{}, { capital }, { sampling: {} }],
    [{ sampling: {} }, { capital }, undefined],
    [{}, { withTools }, { sampling: { tools: {} } }],
    [{ sampling: {} }, { withTools }, { sampling: { tools: {} } }],
    [{ sampling: {} }, { withChoice }, { sampling: { tools: {} } }],
    [{ sampling: { tools: {} } }, { withTools, withChoice }, undefined],
    [{ sampling: { tools: {} } }, { withContext }, { sampling: { context: {} } }],
    [{ sampling: { context: {} } }, { withContext }, undefined],
    [{ sampling: {} }, { withoutContext }, undefined],
    [{}, { r: roots() }, { roots: {} }],
    [{ roots: {} }, { r: roots() }, undefined],
    [
      { sampling: {} }, { name, page, withTools, withContext, r: roots() },
      { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }
    ],
    [{ elicitation: {} }, { name, capital }, { sampling: {} }]
  ]
  for (const [capabilities, requests, missing] of cases) {
    const { error, pending } = await runRound(rounds, async (round) => await round.ask({ ...requests }), {
      capabilities
    })
    if (missing === undefined) {
      t.ok(error instanceof InputRequired, JSON.stringify([capabilities, Object.keys(requests)]))
    } else {
      t.match(error, { code: -32021, httpStatus: 400 })
      t.strictSame(
        error instanceof ProtocolError && error.data, { requiredCapabilities: missing },
        JSON.stringify([capabilities, Object.keys(requests)])
      )
      t.equal(pending, undefined, 'and nothing of it is asked')
    }
  }
})

const base = { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 1 } as const

t.test('an answer that is there needs no capability, and a handler may do without one (213, 220)', async (
  t
) => {
  t.strictSame(
    (await runRound(rounds, askName, { capabilities: {}, inputResponses: { name: alice } })).value, alice
  )
  const { value, pending } = await runRound(
    rounds, async (round) => await round.ask({ name }).catch(() => 'without'), { capabilities: {} }
  )
  t.equal(value, 'without')
  t.equal(pending, undefined)
})

t.test('once: what was done in one round is not done in the next', async (t) => {
  let done = 0
  const endings = await converse(rounds, async (round) => {
    const order = await round.once('order', () => ({ id: ++done, lines: [{ sku: 'x', note: null }] }))
    const nothing = await round.once('nothing', () => { done += 10 })
    await round.ask({ name })
    await round.ask({ color })
    return [order, nothing]
  }, { name: alice, color: red })
  t.equal(endings.length, 3)
  t.ok(endings[0]?.pending?.requestState)
  t.equal(done, 11)
  t.strictSame(endings[2]?.value, [{ id: 1, lines: [{ sku: 'x', note: null }] }, undefined])
})

t.test('once: calls side by side share one, and so do later ones', async (t) => {
  let done = 0
  const { value } = await runRound(rounds, async (round) => {
    const act = async () => await round.once('k', async () => await Promise.resolve(++done))
    return [...await Promise.all([act(), act()]), await act()]
  })
  t.strictSame(value, [1, 1, 1])
})

t.test('once: a failure is not remembered', async (t) => {
  let tries = 0
  const { value, pending } = await runRound(rounds, async (round) => {
    const act = async () => await round.once('k', () => {
      if (++tries === 1) throw new Error('try again')
      return tries
    })
    const failures = await Promise.allSettled([act(), act()])
    return [failures.map(({ status }) => status), await act()]
  })
  t.strictSame(value, [['rejected', 'rejected'], 2])
  t.equal(pending, undefined)
})

t.test('once: a result without a question produces nothing to send', async (t) => {
  t.same(await runRound(rounds, async (round) => await round.once('k', () => 1)), {
    value: 1, pending: undefined
  })
})

t.test('once: what is still under way when the question is asked is waited for and carried', async (t) => {
  let done = 0
  const handler = async (round: InputRound) => await Promise.all([
    round.once('k', async () => {
      await nextTurn()
      return ++done
    }),
    round.ask({ name })
  ])
  const first = await within(runRound(rounds, handler), 'the first round')
  t.ok(first.pending?.requestState)
  const second = await runRound(rounds, handler, {
    inputResponses: { name: alice }, requestState: first.pending?.requestState
  })
  t.strictSame(second.value, [1, { name: alice }])
  t.equal(done, 1)
})

t.test('once: may itself ask', async (t) => {
  const endings = await within(
    converse(rounds, async (round) => await round.once('k', async () => await round.ask({ name })), {
      name: alice
    }),
    'the request'
  )
  t.strictSame(endings.at(-1)?.value, { name: alice })
})

t.test('once: a result must be what JSON can carry, and the author is told what is not', async (t) => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  class Order { id = 1 }
  const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
    [NaN, /^once, "k": the result must be a JSON value.*the result is NaN/], [-Infinity, /is -Infinity/], [
      1n, /is a bigint/
    ], [() => {}, /is a function/], [Symbol('x'), /is a symbol/],
    [{ a: [{ at: new Date() }] }, /the result\.a\[0\]\.at is an instance of Date/], [new Map(), /Map/], [
      new Order(), /Order/
    ], [[undefined], /the result\[0\] is undefined/],
    [new Array(2), /the result\[0\] is undefined/], [circular, /part of itself/], [Buffer.from('x'), /Buffer/]
  ]
  for (const [result, complaint] of wrong) {
    const { error } = await runRound(rounds, async (round) => await round.once('k', () => result))
    t.match(error, { message: complaint })
  }
  for (const right of [
    null, '', 0, false, [], {}, { a: undefined, b: [null, { c: 'x' }] },
    Object.assign(Object.create(null), { a: 1 }), undefined
  ]) {
    t.equal((await runRound(rounds, async (round) => await round.once('k', () => right))).value, right)
  }
  for (const key of ['', undefined, 1]) {
    // @ts-expect-error: authors may write without types
    t.match((await runRound(rounds, async (round) => await round.once(key, () => 1))).error, {
      message: /once: the key must be a text that is not empty/
    })
  }
})

t.test('a state that is too large is the author\'s mistake, with the numbers and what to do instead', async (
  t
) => {
  const small = createRounds({ maxStateBytes: 100 })
  const carrying = (length: number) => async (round: InputRound) => {
    await round.once('page', () => 'x'.repeat(length))
    await round.ask({ name })
  }
  const overhead = '{"answers":{},"results":{"page":[""]}}'.length
  t.ok((await runRound(small, carrying(100 - overhead))).pending?.requestState)
  await t.rejects(runRound(small, carrying(101 - overhead)), {
    message: /101 bytes, the limit is 100; the largest member is once "page"\..*defineHandle/
  })
  await t.rejects(runRound(rounds, carrying(40_000)), { message: /the limit is 32768/ })
})

const stateFor = async (over: Partial<RoundBinding> = {}) =>
  (
    await runRound(rounds, async (round) => [await round.ask({ name }), await round.ask({ color })], {
      inputResponses: { name: alice }, binding: { ...BINDING, ...over }
    })
  ).pending?.requestState

t.test('a state opens for its owner, method, name and arguments, and for nothing else (215, 216)', async (
  t
) => {
  const requestState = await stateFor()
  const open = async (over: Partial<RoundBinding>) => await runRound(rounds, () => 'done', {
    requestState, binding: { ...BINDING, ...over }
  })
  t.equal((await open({})).value, 'done')
  for (const over of [
    { owner: 'bob' }, { method: 'prompts/get' }, { name: 'pay' }, { args: { sku: 'y' } },
    { args: { sku: 'x', more: null } }, { args: {} }, { args: undefined }, { args: [{ sku: 'x' }] }
  ]) {
    await t.rejects(
      open(over), { code: -32602, httpStatus: 200, message: /requestState/ }, JSON.stringify(over)
    )
  }
})

t.test('the order of arguments does not matter to a state, nor whether none are sent as an empty object ' +
  '(216)', async (t) => {
  const args = { b: [{ y: 1, x: 2 }], a: { 2: 'd', 1: 'c' } }
  const same = { a: { 1: 'c', 2: 'd' }, b: [{ x: 2, y: 1 }] }
  t.equal(
    (
      await runRound(rounds, () => 'done', {
        requestState: await stateFor({ args }), binding: { ...BINDING, args: same }
      })
    ).value,
    'done'
  )
  await t.rejects(
    runRound(rounds, () => 'done', {
      requestState: await stateFor({ args: [1, 2] }), binding: { ...BINDING, args: [2, 1] }
    }),
    { code: -32602 }
  )
  t.equal(
    (
      await runRound(rounds, () => 'done', {
        requestState: await stateFor({ args: undefined }), binding: { ...BINDING, args: {} }
      })
    ).value,
    'done'
  )
})

t.test('arguments nested without end are invalid params', async (t) => {
  let args: unknown = {}
  for (let depth = 0; depth < 100_000; depth++) args = [args]
  await t.rejects(runRound(rounds, () => 'done', { requestState: 'x', binding: { ...BINDING, args } }), {
    code: -32602
  })
})

t.test('a state that was tampered with is an error, even with a valid answer and even where nothing would ' +
  'be asked (215, 218)', async (t) => {
  const requestState = await stateFor() ?? ''
  for (const made of [
    `${requestState}-TAMPERED`, requestState.slice(0, -1), requestState.slice(1), '', 'x',
    requestState.toUpperCase()
  ]) {
    await t.rejects(runRound(rounds, askName, { inputResponses: { name: alice }, requestState: made }), {
      code: -32602
    })
    await t.rejects(runRound(rounds, () => 'done', { requestState: made }), { code: -32602 })
  }
})

t.test('a state ends with its time (216)', async (t) => {
  let time = 1_800_000_000_000
  const now = () => time
  const timed = createRounds({ now, sealer: createSealer(['secret'], { now }) })
  const { pending } = await runRound(timed, async (round) => [
    await round.once('k', () => 1), await round.ask({ name })
  ])
  const retry = async () => await runRound(
    timed, async (round) => [await round.once('k', never), await round.ask({ name })],
    { inputResponses: { name: alice }, requestState: pending?.requestState }
  )
  time += TTL_MS - 1
  t.strictSame((await retry()).value, [1, { name: alice }])
  time += 1
  await t.rejects(retry(), { code: -32602, message: /has expired/ })
})

t.test('any replica with the secret can serve the next round, and nothing is remembered of one (219)', async (
  t
) => {
  const handler = async (round: InputRound) => [await round.ask({ name }), await round.ask({ color })]
  const { pending } = await runRound(createRounds(), handler, { inputResponses: { name: alice } })
  t.strictSame(
    (
      await runRound(createRounds(), handler, {
        inputResponses: { color: red }, requestState: pending?.requestState
      })
    ).value,
    [{ name: alice }, { color: red }]
  )
})

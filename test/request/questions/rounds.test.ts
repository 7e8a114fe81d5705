import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { elicit } from '../../../src/platform/author/input-request.ts'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { alice, capital, color, name, page, paris, red } from './question-examples.ts'
import { converse, createRounds, runRound } from './rounds.ts'

const rounds = createRounds()

t.test('the state has the earlier answers, and is different in each round (235)', async (t) => {
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

t.test('an answer in the state comes before one that is sent again', async (t) => {
  const handler = async (round: InputRound) => [await round.ask({ name }), await round.ask({ color })]
  const { pending } = await runRound(rounds, handler, { inputResponses: { name: alice } })
  const { value } = await runRound(rounds, handler, {
    inputResponses: { name: { action: 'accept', content: { name: 'Mallory' } }, color: red },
    requestState: pending?.requestState
  })
  t.strictSame(value, [{ name: alice }, { color: red }])
})

t.test('an answer in the state that does not fit the question is asked for again (225)', async (t) => {
  const ask = (request: typeof name | typeof color) => async (round: InputRound) => [
    await round.ask({ k: request }), await round.ask({ name })
  ]
  const { pending } = await runRound(rounds, ask(color), { inputResponses: { k: red } })
  const requestState = pending?.requestState
  const misfit = await runRound(rounds, ask(name), { requestState })
  t.same(Object.keys(misfit.pending?.inputRequests ?? {}), ['k'])
  const fit = await runRound(rounds, ask(color), { requestState })
  t.same(Object.keys(fit.pending?.inputRequests ?? {}), ['name'])
})

t.test('changes that a handler makes to an answer do not reach the next round', async (t) => {
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

t.test('concurrent calls become one round, and only missing answers are asked for again (223)', async (t) => {
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

t.test('a question asked twice gets one answer, and a key names only one question (211)', async (t) => {
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

t.test('a key may have the name of a member of every object (211)', async (t) => {
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

t.test('a handler that catches the rejection does not withdraw its question (208)', async (t) => {
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

t.test('a question that the handler does not await does not end the process', async (t) => {
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

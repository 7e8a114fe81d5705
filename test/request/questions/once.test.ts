import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { InputRound } from '../../../src/request/questions/input-round.ts'
import { within } from '../../helpers/deadline.ts'
import { alice, color, name, red } from './question-examples.ts'
import { converse, createRounds, runRound } from './rounds.ts'

const rounds = createRounds()

t.test('once: runs its function in one round only', async (t) => {
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

t.test('once: a key that was used before in the run is an error that names it', async (t) => {
  let done = 0
  const { value } = await runRound(rounds, async (round) => {
    const act = async () => await round.once('k', async () => await Promise.resolve(++done))
      .catch((error: Error) => error.message)
    return [...await Promise.all([act(), act()]), await act()]
  })
  t.match(value, [1, /"k" of once or step was used twice/, /"k" of once or step was used twice/])
  t.equal(done, 1)
})

t.test('sleep: a key that was used before in the run is an error that names it', async (t) => {
  const { value } = await runRound(rounds, async (round) => {
    const nap = async (key?: string) => await round.sleep(1, key, async () => {})
    await nap('a')
    await nap('b')
    await nap()
    await nap()
    return await nap('a').catch((error: Error) => error.message)
  })
  t.match(value, /"a" of sleep was used twice/)
})

t.test('once: an error is not remembered', async (t) => {
  let tries = 0
  const { value, pending } = await runRound(rounds, async (round) => {
    const act = async () => await round.once('k', () => {
      if (++tries === 1) throw new Error('try again')
      return tries
    })
    return [await act().catch((error: Error) => error.message), await act()]
  })
  t.strictSame(value, ['try again', 2])
  t.equal(pending, undefined)
})

t.test('once: a result without a question sends nothing', async (t) => {
  t.same(await runRound(rounds, async (round) => await round.once('k', () => 1)), {
    value: 1, pending: undefined
  })
})

t.test('once: a result that comes after the question is awaited, and reaches the next round', async (t) => {
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

t.test('once: its function may ask', async (t) => {
  const endings = await within(
    converse(rounds, async (round) => await round.once('k', async () => await round.ask({ name })), {
      name: alice
    }),
    'the request'
  )
  t.strictSame(endings.at(-1)?.value, { name: alice })
})

t.test('once: a result must be JSON, and the error names the problem', async (t) => {
  const circular: { self?: unknown } = {}
  circular.self = circular
  class Order { id = 1 }
  const wrong: ReadonlyArray<readonly [unknown, RegExp]> = [
    [NaN, /^once, "k": the result must be a JSON value.*the result is NaN/],
    [-Infinity, /is -Infinity/],
    [1n, /is a bigint/],
    [() => {}, /is a function/],
    [Symbol('x'), /is a symbol/],
    [{ a: [{ at: new Date() }] }, /the result\.a\[0\]\.at is an instance of Date/],
    [new Map(), /Map/],
    [new Order(), /Order/],
    [[undefined], /the result\[0\] is undefined/],
    [new Array(2), /the result\[0\] is undefined/],
    [circular, /part of itself/],
    [Buffer.from('x'), /Buffer/]
  ]
  for (const [result, problem] of wrong) {
    const { error } = await runRound(rounds, async (round) => await round.once('k', () => result))
    t.match(error, { message: problem })
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

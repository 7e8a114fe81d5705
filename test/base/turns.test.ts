import t from 'tap'
import { createTurns, type Turns } from '../../src/base/turns.ts'
import { within } from '../helpers/deadline.ts'

function createGate (): { readonly opened: Promise<void>, open (): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

/** Takes a turn, works and ends it. */
async function inTurn<T> (turns: Turns, key: string, work: () => Promise<T>): Promise<T> {
  const turn = turns.take(key)
  try {
    await turn.wait
    return await work()
  } finally {
    turn.end()
  }
}

t.test('turns of one key start in order, and different keys do not wait for each other', async (t) => {
  const turns = createTurns()
  const [a, b] = [createGate(), createGate()]
  const order: string[] = []
  const first = inTurn(turns, 'a', async () => {
    await a.opened
    order.push('first')
  })
  const second = inTurn(turns, 'a', async () => order.push('second'))
  const third = inTurn(turns, 'a', async () => order.push('third'))
  await inTurn(turns, 'b', async () => order.push('other'))
  a.open()
  b.open()
  await Promise.all([first, second, third])
  t.strictSame(order, ['other', 'first', 'second', 'third'])
})

t.test('the next turn starts after one that failed', async (t) => {
  const turns = createTurns()
  const failing = inTurn(turns, 'a', async () => { throw new Error('mine') })
  const next = inTurn(turns, 'a', async () => 'done')
  await t.rejects(failing, { message: 'mine' })
  t.equal(await next, 'done')
})

t.test('a turn that takes too long is not waited for, even if it waits for itself', async (t) => {
  const turns = createTurns(5)
  const result = inTurn(turns, 'a', async () => await inTurn(turns, 'a', async () => 'within'))
  t.equal(await within(result, 'the inner turn'), 'within')
})

t.test('a single turn does not wait, and leaves no queue', (t) => {
  const turns = createTurns()
  for (let i = 0; i < 2; i++) {
    const turn = turns.take('a')
    t.equal(turn.wait, undefined)
    turn.end()
  }
  t.end()
})

t.test('a turn that stopped waiting may end before the turn before it', async (t) => {
  const turns = createTurns(5)
  const slow = turns.take('a')
  const impatient = turns.take('a')
  await impatient.wait
  impatient.end()
  slow.end()
  t.equal(turns.take('a').wait, undefined)
})

import t from 'tap'
import { createKeyedQueue, type KeyedQueue } from '../../src/base/keyed-queue.ts'
import { within } from '../helpers/deadline.ts'

function createGate (): { readonly opened: Promise<void>, open (): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

/** Takes a turn, works and ends it. */
async function inTurn<T> (queue: KeyedQueue, key: string, work: () => Promise<T>): Promise<T> {
  const turn = queue.take(key)
  try {
    await turn.wait
    return await work()
  } finally {
    turn.end()
  }
}

t.test('turns of one key start in order, and different keys do not wait for each other', async (t) => {
  const queue = createKeyedQueue()
  const [a, b] = [createGate(), createGate()]
  const order: string[] = []
  const first = inTurn(queue, 'a', async () => {
    await a.opened
    order.push('first')
  })
  const second = inTurn(queue, 'a', async () => order.push('second'))
  const third = inTurn(queue, 'a', async () => order.push('third'))
  await inTurn(queue, 'b', async () => order.push('other'))
  a.open()
  b.open()
  await Promise.all([first, second, third])
  t.strictSame(order, ['other', 'first', 'second', 'third'])
})

t.test('the next turn starts after one that failed', async (t) => {
  const queue = createKeyedQueue()
  const failing = inTurn(queue, 'a', async () => { throw new Error('mine') })
  const next = inTurn(queue, 'a', async () => 'done')
  await t.rejects(failing, { message: 'mine' })
  t.equal(await next, 'done')
})

t.test('a turn that takes too long is not waited for, even if it waits for itself', async (t) => {
  const queue = createKeyedQueue(5)
  const result = inTurn(queue, 'a', async () => await inTurn(queue, 'a', async () => 'within'))
  t.equal(await within(result, 'the inner turn'), 'within')
})

t.test('a single turn does not wait, and leaves no queue', (t) => {
  const queue = createKeyedQueue()
  for (let i = 0; i < 2; i++) {
    const turn = queue.take('a')
    t.equal(turn.wait, undefined)
    turn.end()
  }
  t.end()
})

t.test('a turn that stopped waiting may end before the turn before it', async (t) => {
  const queue = createKeyedQueue(5)
  const slow = queue.take('a')
  const impatient = queue.take('a')
  await impatient.wait
  impatient.end()
  slow.end()
  t.equal(queue.take('a').wait, undefined)
})

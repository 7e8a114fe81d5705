import t from 'tap'
import { createTurns } from '../../src/state/turns.ts'
import { within } from '../helpers/deadline.ts'

function createGate (): { readonly opened: Promise<void>, open (): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => { open = resolve })
  return { opened, open }
}

t.test('whoever came first is first, and keys do not wait for each other', async (t) => {
  const turns = createTurns()
  const [a, b] = [createGate(), createGate()]
  const order: string[] = []
  const first = turns.take('a', async () => {
    await a.opened
    order.push('first')
  })
  const second = turns.take('a', async () => order.push('second'))
  const third = turns.take('a', async () => order.push('third'))
  await turns.take('b', async () => order.push('other'))
  a.open()
  b.open()
  await Promise.all([first, second, third])
  t.strictSame(order, ['other', 'first', 'second', 'third'])
})

t.test('a failure is its own, and the next has its turn', async (t) => {
  const turns = createTurns()
  const failing = turns.take('a', async () => { throw new Error('mine') })
  const next = turns.take('a', async () => 'done')
  await t.rejects(failing, { message: 'mine' })
  t.equal(await next, 'done')
})

t.test('whoever takes too long, as one who waits for himself does, is not waited for', async (t) => {
  const turns = createTurns(5)
  const result = turns.take('a', async () => await turns.take('a', async () => 'within'))
  t.equal(await within(result, 'the inner turn'), 'within')
})

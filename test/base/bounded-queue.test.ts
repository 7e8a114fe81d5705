import t from 'tap'
import { BoundedQueue } from '../../src/base/bounded-queue.ts'
import { VirtualTime } from '../helpers/virtual-time.ts'

const itemsOf = <T>(queue: BoundedQueue<T>): T[] => Array.from(queue, ([item]) => item)

t.test('takes the items in the order in which their waits began', (t) => {
  const queue = new BoundedQueue<string>({ maxSize: 5, now: () => 40 })
  for (const [item, since] of [['a', 10], ['b', 20], ['c', 20]] as const) queue.add(item, since)
  queue.add('d')
  t.equal(queue.take(), 'a')
  queue.add('again', 10)
  t.strictSame([...queue], [['again', 10], ['b', 20], ['c', 20], ['d', 40]])
  t.strictSame([queue.take(), queue.take(), queue.take(), queue.take()], ['again', 'b', 'c', 'd'])
  t.equal(queue.take(), undefined)
  t.end()
})

t.test('takes the first item that may be taken', (t) => {
  const queue = new BoundedQueue<number>({ maxSize: 5 })
  for (const item of [1, 2, 3, 4]) queue.add(item)
  t.equal(queue.take((item) => item % 2 === 0), 2)
  t.equal(queue.take((item) => item > 4), undefined)
  t.strictSame(itemsOf(queue), [1, 3, 4])
  t.end()
})

t.test('refuses an item when it is full', (t) => {
  const queue = new BoundedQueue<string>({ maxSize: 2 })
  t.strictSame(['a', 'b', 'c'].map((item) => queue.add(item)), [true, true, false])
  t.equal(queue.delete('a'), true)
  t.equal(queue.delete('a'), false)
  t.equal(queue.add('c'), true)
  t.strictSame(queue.clear(), ['b', 'c'])
  t.equal(queue.size, 0)
  t.end()
})

t.test('tells of each item that waits too long, the oldest first', async (t) => {
  const time = new VirtualTime(t)
  const startedAt = time.now
  const late: string[] = []
  let end = () => {}
  const ended = new Promise<void>((resolve) => { end = resolve })
  const queue = new BoundedQueue<string>({
    maxSize: 5,
    maxWaitMs: 100,
    onLate (item) {
      late.push(`${item} ${time.now - startedAt}`)
      if (queue.size === 0) end()
    }
  })
  queue.add('young', time.now - 20)
  queue.add('old', time.now - 60)
  queue.add('taken', time.now - 90)
  queue.delete('taken')
  queue.dropLate(40)
  t.strictSame(late, [])
  queue.dropLate(50)
  t.strictSame(late, ['old 0'])
  queue.add('new')
  await time.during(ended, 1000)
  t.strictSame(late, ['old 0', 'young 81', 'new 101'])
})

t.test('an empty queue has no timer', async (t) => {
  const time = new VirtualTime(t)
  const queue = new BoundedQueue<string>({ maxSize: 5, maxWaitMs: 100 })
  queue.add('a')
  queue.take()
  queue.add('b')
  queue.clear()
  await t.rejects(time.during(new Promise(() => {}), 1000), /not done within/)
  t.equal(time.now, 1_800_000_000_000, 'no timer has moved the time')
})

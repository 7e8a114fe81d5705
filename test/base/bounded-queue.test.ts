import t from 'tap'
import { BoundedQueue } from '../../src/base/bounded-queue.ts'
import { VirtualTime } from '../helpers/virtual-time.ts'

t.test('takes the items in the order in which they were added, whenever their waits began', (t) => {
  const queue = new BoundedQueue<string>({ maxSize: 5, now: () => 40 })
  for (const [item, since] of [['a', 10], ['b', 20], ['c', 20]] as const) queue.add(item, since)
  queue.add('d')
  t.equal(queue.take(), 'a')
  queue.add('again', 10)
  t.strictSame([...queue], [['b', 20], ['c', 20], ['d', 40], ['again', 10]])
  t.strictSame([queue.take(), queue.take(), queue.take(), queue.take()], ['b', 'c', 'd', 'again'])
  t.equal(queue.take(), undefined)
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

/** Opens a queue that notes each late item with its time. `ended` resolves when no item is left. */
function openQueue (time: VirtualTime, maxWaitMs: number) {
  const startedAt = time.now
  const late: string[] = []
  let end = () => {}
  const ended = new Promise<void>((resolve) => { end = resolve })
  const queue = new BoundedQueue<string>({
    maxSize: 5,
    maxWaitMs,
    onLate (item) {
      late.push(`${item} ${time.now - startedAt}`)
      if (queue.size === 0) end()
    }
  })
  return { queue, late, ended }
}

t.test('tells of each item that waits too long, the oldest first', async (t) => {
  const time = new VirtualTime(t)
  const { queue, late, ended } = openQueue(time, 100)
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

t.test('an item whose wait began before those of all others is late at its own time', async (t) => {
  const time = new VirtualTime(t)
  const startedAt = time.now
  const { queue, late, ended } = openQueue(time, 1000)
  queue.add('new')
  for (const [item, ageMs] of [['older', 700], ['oldest', 900]] as const) queue.add(item, startedAt - ageMs)
  await time.during(ended, 2000)
  t.strictSame(late, ['oldest 101', 'older 301', 'new 1001'])
})

t.test('adds each of many items in the same time, also one that is older than all others', (t) => {
  const COUNT = 20_000
  const queue = new BoundedQueue<number>({ maxSize: COUNT, maxWaitMs: 60_000, now: () => COUNT })
  const begin = process.cpuUsage()
  for (let since = COUNT; since > 0; since--) queue.add(since, since)
  const { user, system } = process.cpuUsage(begin)
  // 30 ms. With the items in the order of their ages it takes 30 s.
  t.ok(user + system < 2e6, `${(user + system) / 1000} ms`)
  t.equal(queue.take(), COUNT)
  queue.clear()
  t.end()
})

t.test('an empty queue has no timer', async (t) => {
  const time = new VirtualTime(t)
  const queue = new BoundedQueue<string>({ maxSize: 5, maxWaitMs: 100 })
  queue.add('a')
  queue.take()
  queue.add('b')
  queue.clear()
  // Its timer would come within this time. Those that other files of this process have left come later.
  await t.rejects(time.during(new Promise(() => {}), 150), /not done within/)
  t.equal(time.now, 1_800_000_000_000, 'no timer has moved the time')
})

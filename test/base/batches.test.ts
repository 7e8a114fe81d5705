import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createBatches } from '../../src/base/batches.ts'
import { replaceTime } from '../../src/base/time.ts'
import { until } from '../helpers/deadline.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

t.test('works on all things, in the order in which they were added, over several turns', async (t) => {
  const done: number[] = []
  const batches = createBatches((one: number) => done.push(one))
  for (const one of numbers(1700)) batches.add(one)
  t.strictSame(done, [], 'not in the turn in which they were added')
  let turns = 0
  while (done.length < 1700) {
    const before = done.length
    await turn()
    turns++
    t.ok(done.length - before <= 500, `${done.length - before} in one turn`)
  }
  t.ok(turns >= 4, `${turns} turns`)
  t.strictSame(done, numbers(1700))
})

t.test('ends a batch after its time', async (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const done: number[] = []
  const batches = createBatches((one: number) => {
    done.push(one)
    now += 3
  })
  for (const one of numbers(7)) batches.add(one)
  await turn()
  t.strictSame(done, [0, 1, 2])
  await turn()
  t.strictSame(done, [0, 1, 2, 3, 4, 5])
  await turn()
  t.strictSame(done, numbers(7))
})

t.test('a thing that waits is worked on once, and one that is dropped is not', async (t) => {
  const done: string[] = []
  const batches = createBatches((one: string) => done.push(one))
  for (const one of ['a', 'b', 'c', 'a', 'b']) batches.add(one)
  batches.delete('b')
  await until(() => done.length >= 2, 'the work')
  await turn()
  t.strictSame(done, ['a', 'c'])
  batches.add('a')
  await until(() => done.length >= 3, 'the work on a thing that is added again')
  t.strictSame(done, ['a', 'c', 'a'])
})

t.test('a thing that is added during the work comes last, a dropped one never', async (t) => {
  const done: number[] = []
  const batches = createBatches((one: number) => {
    done.push(one)
    if (one === 0 && done.length === 1) {
      batches.add(0)
      batches.delete(2)
    }
  })
  for (const one of numbers(4)) batches.add(one)
  await until(() => done.length >= 4, 'the work')
  await turn()
  t.strictSame(done, [0, 1, 3, 0])
})

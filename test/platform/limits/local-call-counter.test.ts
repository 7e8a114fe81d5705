import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createLocalCallCounter } from '../../../src/platform/limits/local-call-counter.ts'
import { checkCallCounter } from '../../contracts/call-counter-contract.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function heapBytes (): number {
  collect()
  return process.memoryUsage().heapUsed
}

checkCallCounter(t, async () => {
  let time = 12_345.678
  return {
    counter: createLocalCallCounter({ now: () => time }),
    async pass (ms) { time += ms },
    now: () => time
  }
})

t.test('the key that was idle longest is forgotten first', async (t) => {
  const counter = createLocalCallCounter({ maxKeys: 2 })
  const count = (key: string) => counter.count([{ key, calls: 1, perMs: 60_000 }])
  for (const key of ['a', 'b', 'c']) t.equal(count(key), undefined, key)
  t.equal(count('a'), undefined, 'counts again')
  t.not(count('c'), undefined, 'is known')
})

t.test('a key takes less than a kilobyte, however many calls it has', async (t) => {
  let time = 0
  const counter = createLocalCallCounter({ now: () => time })
  const before = heapBytes()
  for (let part = 0; part < 60; part++) {
    time += 1000
    for (let key = 0; key < 10_000; key++) {
      counter.count([{ key: String(key), calls: 100, perMs: 30_000 }])
    }
  }
  const bytes = (heapBytes() - before) / 10_000
  t.ok(bytes < 1024, `${Math.round(bytes)} bytes`)
  t.not(counter.count([{ key: '1', calls: 30, perMs: 30_000 }]), undefined, 'and all of it is kept')
})

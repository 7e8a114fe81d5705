// The window of requests under open load, in a model of the event loop.

import t from 'tap'
import { RequestWindow } from '../../../src/features/overload/request-window.ts'
import { simulate, type Load } from './simulated-loop.ts'

/** The constant maxLoopDelayMs. */
const TARGET_MS = 50
const TOOLS: { readonly [name: string]: Pick<Load, 'waitMs' | 'computeMs'> } = {
  'waits 50 ms and computes 5 ms': { waitMs: 50, computeMs: 5 },
  'waits 20 ms and computes 1 ms': { waitMs: 20, computeMs: 1 },
  'waits 500 ms and computes 2 ms': { waitMs: 500, computeMs: 2 },
  'computes 2 ms': { waitMs: 0, computeMs: 2 }
}

for (const [name, tool] of Object.entries(TOOLS)) {
  t.test(`a tool that ${name}`, async (t) => {
    const at = (load: number) => simulate({ ...tool, load }, TARGET_MS)
    const calm = at(0.3)
    t.equal(calm.refused, 0)
    t.ok(at(0.9).refused < 0.05, 'almost nothing is refused below the capacity')
    for (const load of [2, 4]) {
      const { served, p99Ms, shares } = at(load)
      t.ok(served >= 0.8, `${served} of the capacity is served at ${load} times the capacity`)
      const bound = Math.max(3 * calm.p99Ms, 3 * TARGET_MS)
      t.ok(p99Ms <= bound, `${p99Ms} ms, without load ${calm.p99Ms} ms`)
      const settled = shares.slice(5)
      const expected = 1 - 1 / load
      const isSteady = settled.every((share) => Math.abs(share - expected) < 0.3)
      t.ok(isSteady, `steady: ${settled.map((share) => share.toFixed(2)).join(' ')}`)
    }
    t.ok(at(1.2).refused < at(2).refused && at(2).refused < at(4).refused, 'the share grows with the load')
  })
}

t.test('at twice the capacity half of the calls are served that cost three times a refusal', async (t) => {
  const { served } = simulate({ waitMs: 0, computeMs: 0, load: 2 }, TARGET_MS)
  t.ok(served > 0.5, String(served))
})

const CALM = { delayMs: 0, utilization: 0.1, elapsedMs: 100, mostServed: 10, begun: 0 }
const BUSY = { delayMs: 100, utilization: 1, elapsedMs: 100, mostServed: 100, begun: 100 }

t.test('one long task refuses nothing, however long it was', async (t) => {
  const window = new RequestWindow(TARGET_MS, 1000)
  for (let count = 0; count < 10; count++) {
    window.update({ ...BUSY, delayMs: 3000, elapsedMs: 3000 })
    window.update(CALM)
  }
  t.equal(window.limit, 1000)
})

t.test('a delay while the loop is idle for a part of the time refuses nothing', async (t) => {
  const window = new RequestWindow(TARGET_MS, 1000)
  for (let count = 0; count < 100; count++) window.update({ ...BUSY, utilization: 0.8 })
  t.equal(window.limit, 1000)
})

t.test('the window has a lower bound, and opens again when the load is gone', async (t) => {
  const window = new RequestWindow(TARGET_MS, 1000)
  for (let count = 0; count < 100; count++) window.update(BUSY)
  t.equal(window.limit, 16)
  for (let count = 0; count < 100; count++) window.update({ ...CALM, begun: 10 })
  t.ok(window.limit > 300, `after ten seconds of a few requests: ${window.limit}`)
  for (let count = 0; count < 1000; count++) window.update(CALM)
  t.equal(window.limit, 1000)
})

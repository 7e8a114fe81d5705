import t, { type Test } from 'tap'
import { replaceTime } from '../../src/base/time.ts'
import { runInTurns } from '../../src/base/turns.ts'

const STEPS = 20

function * work (): Generator<undefined, void, undefined> {
  for (let step = 0; step < STEPS; step++) yield
}

/** Returns how many turns others have while the work runs. */
async function countTurns (): Promise<number> {
  let turns = 0
  let next = setImmediate(function count () {
    turns++
    next = setImmediate(count)
  })
  await runInTurns(work())
  clearImmediate(next)
  return turns
}

/** Puts a clock in place that goes on by `stepMs` whenever it is read. */
function useClock (t: Test, startMs: number, stepMs: number): void {
  let time = startMs
  t.teardown(replaceTime({ monotonic: () => (time += stepMs) }))
}

t.test('others have a turn after each step that takes long', async (t) => {
  useClock(t, 1e9, 10)
  t.equal(await countTurns(), STEPS)
})

t.test('others have a turn only after several short steps', async (t) => {
  useClock(t, 2e9, 0.5)
  t.equal(await countTurns(), STEPS / 5)
})

t.test('others have their turns once a clock that was ahead has been replaced', async (t) => {
  await t.test('ahead', async (t) => {
    useClock(t, 1e12, 10)
    t.equal(await countTurns(), STEPS)
  })
  useClock(t, 3e9, 10)
  t.equal(await countTurns(), STEPS)
})

// The clock that all replicas share, as one replica reads it.

import t, { type Test } from 'tap'
import { openSharedClock } from '../../../../src/edges/legacy/sessions/shared-clock.ts'

const HOUR_MS = 3_600_000
/** How far two readings on a busy machine may be apart. */
const NEAR_MS = 1000

/** A shared clock that is wrong by `state.skewMs`, and cannot be read while `state.isAway`. */
async function open (t: Test) {
  const state = { skewMs: HOUR_MS, isAway: false }
  const clock = await openSharedClock({
    async time () {
      if (state.isAway) throw new Error('the clock is away')
      return Date.now() + state.skewMs
    }
  })
  t.teardown(() => clock.close())
  return { state, clock }
}

const isNear = (time: number, skewMs: number) => Math.abs(time - Date.now() - skewMs) < NEAR_MS

t.test('tells the shared time, and not that of this machine', async (t) => {
  const { clock } = await open(t)
  t.ok(isNear(clock.now(), HOUR_MS))
  t.ok(isNear(await clock.read(), HOUR_MS))
})

t.test('follows the shared clock when that is set', async (t) => {
  const { state, clock } = await open(t)
  state.skewMs = -HOUR_MS
  t.ok(isNear(await clock.read(), -HOUR_MS))
  t.ok(isNear(clock.now(), -HOUR_MS))
})

t.test('continues from the last reading while the shared clock cannot be read', async (t) => {
  const { state, clock } = await open(t)
  state.isAway = true
  t.ok(isNear(await clock.read(), HOUR_MS))
  t.ok(isNear(clock.now(), HOUR_MS))
})

t.test('does not open without a first reading', async (t) => {
  await t.rejects(openSharedClock({ time: async () => { throw new Error('away') } }), { message: 'away' })
})

import t from 'tap'
import { clock } from '../../../../src/base/time.ts'
import { createLocalDueTimes, StoreClock } from '../../../../src/platform/store/records/due-times.ts'
import { checkDueTimes } from '../../../contracts/due-times-contract.ts'

checkDueTimes(t, async () => {
  let time = 1_800_000_000_000
  return { dueTimes: createLocalDueTimes({ now: () => time }), pass (ms) { time += ms } }
})

t.test('an answer that is read late does not set the clock of the store back', (t) => {
  const storeClock = new StoreClock(() => 0)
  const isAt = (time: number) => Math.abs(storeClock.now() - time) < 1000
  storeClock.note(100_000, clock.monotonic())
  t.ok(isAt(100_000))
  // The process was paused for 15 s after the store had answered.
  storeClock.note(85_000, clock.monotonic() - 15_000)
  t.ok(isAt(100_000))
  storeClock.note(130_000, clock.monotonic())
  t.ok(isAt(130_000), 'it goes on')
  storeClock.note(110_000, clock.monotonic())
  t.ok(isAt(110_000), 'it was set back')
  t.end()
})

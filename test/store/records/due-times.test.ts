import t from 'tap'
import { createLocalDueTimes } from '../../../src/store/records/due-times.ts'
import { checkDueTimes } from '../../contracts/due-times-contract.ts'

checkDueTimes(t, async () => {
  let time = 1_800_000_000_000
  return { dueTimes: createLocalDueTimes({ now: () => time }), pass (ms) { time += ms } }
})

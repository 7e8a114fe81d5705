// Writes a duration in words.

import { counted } from './words.ts'

const UNITS = [['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000]] as const

/** The two largest units that are not zero: `1 day`, `1 hour 30 minutes`. Rounded down to the second. */
export function toDuration (ms: number): string {
  let left = ms
  const counts = UNITS.flatMap(([unit, unitMs]) => {
    const count = Math.floor(left / unitMs)
    left -= count * unitMs
    return count === 0 ? [] : [counted(count, unit)]
  })
  return counts.slice(0, 2).join(' ')
}

// The due times of one process.

import { clock, type Clock } from '../../base/time.ts'
import type { DueTimes } from './due-times.ts'

export function createLocalDueTimes ({ now = clock.now }: Clock = {}): DueTimes {
  const times = new Map<string, number>()
  return {
    async set (entry, inMs) { times.set(entry, now() + inMs) },
    async remove (entry) { times.delete(entry) },
    async take (limit, holdMs) {
      const time = now()
      const entries = [...times].filter(([, at]) => at <= time)
        .sort(([, one], [, other]) => one - other)
        .slice(0, limit).map(([entry]) => entry)
      for (const entry of entries) times.set(entry, time + holdMs)
      let next = Infinity
      for (const at of times.values()) next = Math.min(next, at)
      return { entries, nextInMs: next === Infinity ? undefined : Math.max(0, next - time) }
    }
  }
}

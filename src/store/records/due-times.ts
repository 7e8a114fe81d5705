// The times at which replicas must look after something.

import { clock, type Clock } from '../../base/time.ts'

/** Entries that were due. */
export interface TakenEntries {
  /** The one that was due first comes first. */
  readonly entries: readonly string[]
  /** In how many milliseconds the next entry is due, 0 at least. `undefined` if there is no entry. */
  readonly nextInMs: number | undefined
}

/**
 * Entries with a time each, shared by all replicas. The time is that of the store, so the clocks of replicas
 * may differ. An entry is a hint: whoever takes it reads what it names, and may find nothing to do.
 *
 * Every method rejects with a StoreUnavailable if the store cannot be reached in time. The operation was then
 * done completely or not at all.
 */
export interface DueTimes {
  /** Makes the entry due after this time, in milliseconds. Replaces an earlier time of the entry. */
  set (entry: string, inMs: number): Promise<void>
  /** Does nothing if there is no such entry. */
  remove (entry: string): Promise<void>
  /**
   * Takes entries that are due. Each of them is then due again after `holdMs`: no other replica gets it
   * before, and one does if this replica is lost.
   */
  take (limit: number, holdMs: number): Promise<TakenEntries>
}

/** Creates the due times of a single process. */
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

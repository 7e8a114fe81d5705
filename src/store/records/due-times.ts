// The times at which replicas must look after something.

import { clock, type Clock } from '../../base/time.ts'

/** Entries that were due. */
export interface TakenEntries {
  /** The one that was due first comes first. */
  readonly entries: readonly string[]
  /** In how many milliseconds the next entry is due, 0 at least. `undefined` if there is no entry. */
  readonly nextInMs: number | undefined
  /** The time of the store, in milliseconds since the epoch. */
  readonly now: number
}

/**
 * Entries with a time each, shared by all replicas. The time is that of the store, so the clocks of replicas
 * may differ. An entry is a hint: whoever takes it reads what it names, and may find nothing to do.
 *
 * Every method rejects with a StoreUnavailable if the store cannot be reached in time. The operation was then
 * done completely or not at all.
 */
export interface DueTimes {
  /**
   * Makes the entry due after this time, in milliseconds. An earlier generation than the present one may only
   * make it due sooner: a replica that was paused does not undo what came after it. Resolves to the time of
   * the store, in milliseconds since the epoch.
   *
   * @param generation a whole number, which grows with each change of what the entry names.
   */
  set (entry: string, inMs: number, generation: number): Promise<number>
  /** Does nothing if there is no such entry. */
  remove (entry: string): Promise<void>
  /**
   * Takes entries that are due. Each of them is then due again after `holdMs`: no other replica gets it
   * before, and one does if this replica is lost. Their generations stay.
   */
  take (limit: number, holdMs: number): Promise<TakenEntries>
}

/** The clock of the store, as its last answer told it. The clocks of replicas differ. */
export class StoreClock {
  readonly #now: () => number
  #aheadMs = 0

  /** @param now the clock of this replica. By default one that no setting of the system's clock moves. */
  constructor (now?: () => number) {
    const epoch = clock.now() - clock.monotonic()
    this.#now = now ?? (() => epoch + clock.monotonic())
  }

  /** Milliseconds since the epoch. */
  readonly now = (): number => this.#now() + this.#aheadMs

  /** @param time what the store has just answered. */
  note (time: number): void { this.#aheadMs = time - this.#now() }
}

/** Creates the due times of a single process. */
export function createLocalDueTimes ({ now = clock.now }: Clock = {}): DueTimes {
  const times = new Map<string, { readonly at: number, readonly generation: number }>()
  return {
    async set (entry, inMs, generation) {
      const time = now()
      const at = time + inMs
      const before = times.get(entry)
      if (before === undefined || before.generation <= generation) times.set(entry, { at, generation })
      else if (at < before.at) times.set(entry, { at, generation: before.generation })
      return time
    },
    async remove (entry) { times.delete(entry) },
    async take (limit, holdMs) {
      const time = now()
      const due = [...times].filter(([, { at }]) => at <= time)
        .sort(([, one], [, other]) => one.at - other.at)
        .slice(0, limit)
      for (const [entry, { generation }] of due) times.set(entry, { at: time + holdMs, generation })
      let next: number | undefined
      for (const { at } of times.values()) next = Math.min(next ?? at, at)
      return toTaken(due.map(([entry]) => entry), next, time)
    }
  }
}

/** @param next when the next entry is due, in milliseconds since the epoch. */
export function toTaken (entries: readonly string[], next: number | undefined, now: number): TakenEntries {
  return { entries, nextInMs: next === undefined ? undefined : Math.max(0, next - now), now }
}

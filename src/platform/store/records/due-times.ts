// The times at which replicas must look after something.

import { clock, type Clock } from '../../../base/time.ts'

/** Entries that were due. */
export interface TakenEntries {
  /** The one that was due first comes first. */
  readonly entries: readonly string[]
  /** In how many milliseconds the next entry is due, 0 at least. `undefined` if there is no entry. */
  readonly nextInMs: number | undefined
  /** The time of the store, in milliseconds since the epoch. */
  readonly now: number
}

/** An entry and its time. */
export interface DueEntry {
  readonly entry: string
  /** Milliseconds until it is due. Below 0: it was due, and nobody has taken it. */
  readonly inMs: number
  readonly generation: number
}

/** A part of the list of all entries. */
export interface DuePage {
  readonly entries: readonly DueEntry[]
  /** Begins the next page. `undefined` after the last one. Only the backend that made it can read it. */
  readonly next: string | undefined
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
   * @param lateMs the time for an earlier generation, in milliseconds, `inMs` by default: the present time
   * may be a lease, and nobody may take the entry before its end.
   */
  set (entry: string, inMs: number, generation: number, lateMs?: number): Promise<number>
  /** Does nothing if there is no such entry. */
  remove (entry: string): Promise<void>
  /**
   * Takes entries that are due. Each of them is then due again after `holdMs`: no other replica gets it
   * before, and one does if this replica is lost. Their generations stay.
   */
  take (limit: number, holdMs: number): Promise<TakenEntries>
  /** The entries that are due within a time, in milliseconds. The first one comes first. Takes none. */
  peek (limit: number, withinMs: number): Promise<readonly DueEntry[]>
  /**
   * Reads a page of all entries, in an order that no due time changes: an entry that exists from the first
   * page to the last is in one of them. An entry may come twice. A failover between two pages may hide some.
   * Rejects with a RangeError for a text that cannot be the `next` of a page.
   *
   * @param from the `next` of the page before. `undefined` for the first one.
   * @param limit about how many: a backend may return some more.
   */
  list (from: string | undefined, limit: number): Promise<DuePage>
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

  /**
   * Takes the time that the store has told. Its clock has gone on since then, by no more than the request
   * took: the process may have been paused before it read the answer.
   * @param askedAt when the store was asked, in milliseconds of the monotonic clock.
   */
  note (time: number, askedAt: number): void {
    const least = time - this.#now()
    this.#aheadMs = Math.min(Math.max(this.#aheadMs, least), least + clock.monotonic() - askedAt)
  }
}

interface LocalTime {
  readonly at: number
  readonly generation: number
  /** Grows from entry to entry, in the order of the map. */
  readonly number: number
}

/** Creates the due times of a single process. */
export function createLocalDueTimes ({ now = clock.now }: Clock = {}): DueTimes {
  const times = new Map<string, LocalTime>()
  let count = 0

  /** @param until milliseconds since the epoch. */
  function find (limit: number, until: number): Array<[entry: string, time: LocalTime]> {
    const due: Array<[string, LocalTime]> = []
    // No copy of the map: it has the entries of ended tasks too.
    for (const entry of times) if (entry[1].at <= until) due.push(entry)
    return due.sort(([, left], [, right]) => left.at - right.at).slice(0, limit)
  }

  function toEntry ([entry, { at, generation }]: readonly [string, LocalTime]): DueEntry {
    return { entry, inMs: at - now(), generation }
  }

  return {
    async set (entry, inMs, generation, lateMs = inMs) {
      const time = now()
      const before = times.get(entry)
      const isLate = before !== undefined && before.generation > generation
      const at = time + (isLate ? lateMs : inMs)
      const number = before?.number ?? ++count
      if (!isLate) times.set(entry, { at, generation, number })
      else if (at < before.at) times.set(entry, { ...before, at })
      return time
    },
    async remove (entry) { times.delete(entry) },
    async take (limit, holdMs) {
      const time = now()
      const due = find(limit, time)
      for (const [entry, before] of due) times.set(entry, { ...before, at: time + holdMs })
      let next: number | undefined
      for (const { at } of times.values()) next = Math.min(next ?? at, at)
      return toTaken(due.map(([entry]) => entry), next, time)
    },
    peek: async (limit, withinMs) => find(limit, now() + withinMs).map(toEntry),
    async list (from = '0', limit) {
      const last = readPlace(from)
      const entries: DueEntry[] = []
      let end = last
      for (const entry of times) {
        if (entry[1].number <= last) continue
        if (entries.length === limit) return { entries, next: String(end) }
        entries.push(toEntry(entry))
        end = entry[1].number
      }
      return { entries, next: undefined }
    }
  }
}

/** Reads the `next` of a page that is a number. Throws a RangeError. */
export function readPlace (text: string): number {
  if (!/^\d{1,20}$/.test(text)) throw new RangeError('this cursor is of no page')
  return Number(text)
}

/** Begins the `next` of a page that names the last entry of the page. */
const AFTER = 'after:'

/** Reads the entry after which a page begins. Empty for the first page. Throws a RangeError. */
export function readAfter (from = AFTER): string {
  if (!from.startsWith(AFTER)) throw new RangeError('this cursor is of no page')
  return from.slice(AFTER.length)
}

/** @param entries one more than the limit, if there is another page. */
export function toDuePage (entries: readonly DueEntry[], limit: number): DuePage {
  const last = entries.length > limit ? entries[limit - 1] : undefined
  return { entries: entries.slice(0, limit), next: last && AFTER + last.entry }
}

/** @param next when the next entry is due, in milliseconds since the epoch. */
export function toTaken (entries: readonly string[], next: number | undefined, now: number): TakenEntries {
  return { entries, nextInMs: next === undefined ? undefined : Math.max(0, next - now), now }
}

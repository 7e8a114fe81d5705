// Gathers what is asked for in one turn of the event loop: a statement for many keys costs about as much as
// one for a single key.

import { clock, timers, type Timer } from '../../../../base/time.ts'
import { PostgresError } from './postgres-error.ts'

/** Who waits for an answer. */
export interface Waiter<Answer> {
  resolve (answer: Answer): void
  reject (error: unknown): void
}

/** The most items of one statement, and the most bytes of several. */
const MAX_ITEMS = 100
const MAX_BYTES = 262_144
const MAX_WAITING = 10_000
/** An item with less time left is not sent, in milliseconds: its statement could not end in time. */
const LEAST_MS = 100

interface QueueOptions<Item> {
  /** An item rejects after this time, in milliseconds, the wait for its statement included. */
  readonly deadlineMs: number
  /** With this many waiting, a further item rejects at once. 10,000 by default. */
  readonly maxWaiting?: number
  /** The bytes of an item, for MAX_BYTES. 0 by default. */
  bytesOf? (item: Item): number
  /** Called when nothing runs or waits any more. */
  onIdle? (): void
}

/** What waits for its statement. */
interface Entry<Item> { readonly item: Item, readonly since: number }

/** @param run takes the items of a turn, in parts. It must not throw. */
export function gatherTurns<Item> (run: (items: readonly Item[]) => void): (item: Item) => void {
  let items: Item[] = []

  function runAll (): void {
    const all = items
    items = []
    for (let start = 0; start < all.length; start += MAX_ITEMS) run(all.slice(start, start + MAX_ITEMS))
  }

  return (item) => {
    if (items.push(item) === 1) setImmediate(runAll)
  }
}

/**
 * Runs the items in their order, one statement after the other: those that come meanwhile share the next one.
 *
 * @param run answers the items, of which the first has waited for `waitedMs`. The deadline of the items that
 * run is that of the statement. If it rejects, all of them do.
 * @returns what adds an item. @param since when its wait began. Now by default.
 */
export function gatherInOrder<Item extends Pick<Waiter<never>, 'reject'>> (
  run: (items: readonly Item[], waitedMs: number) => Promise<void>,
  { deadlineMs, maxWaiting = MAX_WAITING, bytesOf = () => 0, onIdle = () => {} }: QueueOptions<Item>
): (item: Item, since?: number) => void {
  const waiting = new Set<Entry<Item>>()
  let isRunning = false
  let timer: Timer | undefined

  function refuseLate (leastMs: number): void {
    const latest = clock.monotonic() - deadlineMs + leastMs
    for (const entry of waiting) {
      if (entry.since > latest) continue
      waiting.delete(entry)
      entry.item.reject(new PostgresError(`PostgreSQL did not answer within ${deadlineMs} ms`))
    }
  }

  /** Watches the oldest. */
  function watch (): void {
    const [oldest] = waiting
    if (timer !== undefined || oldest === undefined) return
    // After the turn of the event loop that reads sockets: a busy process may have an answer already.
    timer = timers.setTimeout(() => setImmediate(() => {
      timer = undefined
      refuseLate(0)
      watch()
    }), Math.max(oldest.since + deadlineMs - clock.monotonic(), 1))
  }

  function take (): Array<Entry<Item>> {
    // A short deadline leaves most of its time for the wait.
    refuseLate(Math.min(LEAST_MS, deadlineMs / 3))
    const some: Array<Entry<Item>> = []
    let bytes = 0
    for (const entry of waiting) {
      bytes += bytesOf(entry.item)
      if (some.length > 0 && (some.length === MAX_ITEMS || bytes > MAX_BYTES)) break
      some.push(entry)
      waiting.delete(entry)
    }
    return some
  }

  async function runAll (): Promise<void> {
    for (let some = take(); some.length > 0; some = take()) {
      const waitedMs = clock.monotonic() - Math.min(...some.map(({ since }) => since))
      try {
        await run(some.map(({ item }) => item), waitedMs)
      } catch (error) {
        for (const { item } of some) item.reject(error)
      }
    }
    isRunning = false
    onIdle()
  }

  return (item, since = clock.monotonic()) => {
    if (waiting.size >= maxWaiting) {
      item.reject(new PostgresError(`${maxWaiting} writes wait for PostgreSQL`))
      return
    }
    waiting.add({ item, since })
    watch()
    if (isRunning) return
    isRunning = true
    setImmediate(runAll)
  }
}

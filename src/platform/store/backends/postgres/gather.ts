// Gathers what is asked for in one turn of the event loop: a statement for many keys costs about as much as
// one for a single key.

import { BoundedQueue } from '../../../../base/bounded-queue.ts'
import { clock } from '../../../../base/time.ts'
import { PostgresError } from './postgres-error.ts'

/** The caller that waits for an answer. */
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
/** The statement that runs is late first, by this time in milliseconds: the next ones then wait for less. */
const LATER_MS = 5

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
 * One that is added again comes after all that wait.
 *
 * @param run answers the items, of which none has waited longer than `waitedMs`. The deadline of the items
 * that run is that of the statement. If it rejects, all of them do.
 * @returns what adds an item. @param since when its wait began. Now by default.
 */
export function gatherInOrder<Item extends Pick<Waiter<never>, 'reject'>> (
  run: (items: readonly Item[], waitedMs: number) => Promise<void>,
  { deadlineMs, maxWaiting = MAX_WAITING, bytesOf = () => 0, onIdle = () => {} }: QueueOptions<Item>
): (item: Item, since?: number) => void {
  const queue = new BoundedQueue<Item>({
    maxSize: maxWaiting,
    maxWaitMs: deadlineMs + LATER_MS,
    onLate (item) { item.reject(new PostgresError(`PostgreSQL did not answer within ${deadlineMs} ms`)) }
  })
  let isRunning = false

  function take () {
    const items: Item[] = []
    let [bytes, earliest] = [0, Infinity]
    for (const [item, since] of queue) {
      bytes += bytesOf(item)
      if (items.length > 0 && (items.length === MAX_ITEMS || bytes > MAX_BYTES)) break
      items.push(item)
      queue.delete(item)
      earliest = Math.min(earliest, since)
    }
    return { items, waitedMs: clock.monotonic() - earliest }
  }

  async function runAll (): Promise<void> {
    for (;;) {
      // A short deadline leaves most of its time for the wait.
      queue.dropLate(Math.min(LEAST_MS, deadlineMs / 3) + LATER_MS)
      if (queue.size === 0) break
      const { items, waitedMs } = take()
      try {
        await run(items, waitedMs)
      } catch (error) {
        for (const { reject } of items) reject(error)
      }
    }
    isRunning = false
    onIdle()
  }

  return (item, since) => {
    if (!queue.add(item, since)) {
      item.reject(new PostgresError(`${maxWaiting} writes wait for PostgreSQL`))
      return
    }
    if (isRunning) return
    isRunning = true
    setImmediate(runAll)
  }
}

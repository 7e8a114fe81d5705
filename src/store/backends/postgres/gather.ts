// Gathers what is asked for in one turn of the event loop: a statement for many keys costs about as much as
// one for a single key.

import { timers, type Timer } from '../../../base/time.ts'
import { PostgresError } from './postgres-error.ts'

/** Who waits for an answer. */
export interface Waiter<Answer> {
  resolve (answer: Answer): void
  reject (error: unknown): void
}

/** The most items of one statement. */
const MAX_ITEMS = 100
const MAX_WAITING = 10_000

interface OrderLimits {
  /** An item without an answer rejects after this time, the wait for its statement included. */
  readonly deadlineMs: number
  /** With this many waiting, a further item rejects at once. 10,000 by default. */
  readonly maxWaiting?: number
  /** Called when nothing runs or waits any more. */
  onIdle? (): void
}

interface Entry<Item> { readonly item: Item, readonly number: number, readonly timer: Timer }

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
 * @param run answers the items. If it rejects, all of them do, and all that waited when it began: they would
 * wait as long for nothing.
 */
export function gatherInOrder<Item extends Pick<Waiter<never>, 'reject'>> (
  run: (items: readonly Item[]) => Promise<void>,
  { deadlineMs, maxWaiting = MAX_WAITING, onIdle = () => {} }: OrderLimits
): (item: Item) => void {
  const waiting = new Set<Entry<Item>>()
  let lastNumber = 0
  let isRunning = false

  function refuse (entry: Entry<Item>, error: unknown): void {
    timers.clear(entry.timer)
    waiting.delete(entry)
    entry.item.reject(error)
  }

  function take (): Array<Entry<Item>> {
    const some: Array<Entry<Item>> = []
    for (const entry of waiting) {
      if (some.push(entry) === MAX_ITEMS) break
    }
    for (const entry of some) waiting.delete(entry)
    return some
  }

  async function runAll (): Promise<void> {
    while (waiting.size > 0) {
      const some = take()
      const begunAt = lastNumber
      try {
        await run(some.map(({ item }) => item))
        for (const { timer } of some) timers.clear(timer)
      } catch (error) {
        for (const entry of some) refuse(entry, error)
        for (const entry of waiting) if (entry.number <= begunAt) refuse(entry, error)
      }
    }
    isRunning = false
    onIdle()
  }

  return (item) => {
    if (waiting.size >= maxWaiting) {
      item.reject(new PostgresError(`${maxWaiting} writes wait for PostgreSQL`))
      return
    }
    const late = () => {
      refuse(entry, new PostgresError(`PostgreSQL did not answer within ${deadlineMs} ms`))
    }
    // After the turn of the event loop that reads sockets: a busy process may have the answer already.
    const timer = timers.setTimeout(() => { setImmediate(late) }, deadlineMs)
    const entry = { item, number: ++lastNumber, timer }
    waiting.add(entry)
    if (isRunning) return
    isRunning = true
    setImmediate(runAll)
  }
}

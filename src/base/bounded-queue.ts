// A queue of bounded length. An item leaves it when it is taken, or deleted, or has waited too long.

import { clock, timers, type Timer } from './time.ts'

interface BoundedQueueOptions<T> {
  /** How many items may wait. */
  readonly maxSize: number
  /** How long an item may wait, in milliseconds. Without an end by default. */
  readonly maxWaitMs?: number
  /** Called with each item that left because it had waited too long. */
  onLate? (item: T): void
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/** Iterates over the items with the times at which their waits began, the earliest first. */
export class BoundedQueue<T> implements Iterable<readonly [item: T, since: number]> {
  readonly #options: Required<BoundedQueueOptions<T>>
  readonly #waits = new Map<T, number>()
  /** The latest time at which a wait began. */
  #latest = -Infinity
  #timer: Timer | undefined

  constructor (options: BoundedQueueOptions<T>) {
    this.#options = { maxWaitMs: Infinity, onLate () {}, now: clock.monotonic, ...options }
  }

  get size (): number { return this.#waits.size }

  [Symbol.iterator] (): Iterator<readonly [item: T, since: number]> { return this.#waits.entries() }

  /**
   * Returns `false`, and adds nothing, if the queue is full.
   * @param since when the wait began. An item that waits again keeps its place.
   */
  add (item: T, since = this.#options.now()): boolean {
    if (this.size >= this.#options.maxSize) return false
    const later = since < this.#latest ? [...this].filter(([, startedAt]) => startedAt > since) : []
    for (const [waiter] of later) this.#waits.delete(waiter)
    this.#waits.set(item, since)
    for (const [waiter, startedAt] of later) this.#waits.set(waiter, startedAt)
    this.#latest = Math.max(this.#latest, since)
    this.#watch()
    return true
  }

  /** Removes and returns the first item that may be taken. */
  take (mayTake: (item: T) => boolean = () => true): T | undefined {
    for (const [item] of this) if (mayTake(item) && this.delete(item)) return item
    return undefined
  }

  /** Returns whether the item waited. */
  delete (item: T): boolean {
    const waited = this.#waits.delete(item)
    if (this.size === 0) this.#unwatch()
    return waited
  }

  /** Removes and returns all items. */
  clear (): T[] {
    const items = [...this.#waits.keys()]
    this.#waits.clear()
    this.#unwatch()
    return items
  }

  /** Removes the items that may wait for less than `leftMs` milliseconds. */
  dropLate (leftMs = 0): void {
    const { maxWaitMs, onLate, now } = this.#options
    const latest = now() - maxWaitMs + leftMs
    for (const [item, since] of this) {
      if (since >= latest) return
      this.delete(item)
      onLate(item)
    }
  }

  /** Watches the oldest item. */
  #watch (): void {
    const { maxWaitMs, now } = this.#options
    const [since] = this.#waits.values()
    if (this.#timer !== undefined || since === undefined || maxWaitMs === Infinity) return
    // After the turn of the event loop that reads sockets: a busy process may have an answer already.
    this.#timer = timers.setTimeout(() => setImmediate(() => {
      this.#timer = undefined
      this.dropLate()
      this.#watch()
    }), Math.max(since + maxWaitMs - now(), 0) + 1)
  }

  #unwatch (): void {
    timers.clear(this.#timer)
    this.#timer = undefined
  }
}

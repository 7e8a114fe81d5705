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

/** Iterates over the items in the order of their places, with the times at which their waits began. */
export class BoundedQueue<T> implements Iterable<readonly [item: T, since: number]> {
  readonly #options: Required<BoundedQueueOptions<T>>
  readonly #waits = new Map<T, number>()
  #timer: Timer | undefined
  /** The start of the wait whose end the timer watches. */
  #watchedSince = Infinity

  constructor (options: BoundedQueueOptions<T>) {
    this.#options = { maxWaitMs: Infinity, onLate () {}, now: clock.monotonic, ...options }
  }

  get size (): number { return this.#waits.size }

  [Symbol.iterator] (): Iterator<readonly [item: T, since: number]> { return this.#waits.entries() }

  /**
   * Returns `false`, and adds nothing, if the queue is full.
   * @param since when the wait began. An item that waits again gets the last place, and no further time.
   */
  add (item: T, since = this.#options.now()): boolean {
    if (this.size >= this.#options.maxSize) return false
    this.#waits.set(item, since)
    this.#watch(since)
    return true
  }

  /** Removes and returns the first item. */
  take (): T | undefined {
    for (const [item] of this) if (this.delete(item)) return item
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
      if (since >= latest) continue
      this.delete(item)
      onLate(item)
    }
  }

  /** Watches the earliest of the waits. */
  #watch (since: number): void {
    const { maxWaitMs, now } = this.#options
    if (since >= this.#watchedSince || maxWaitMs === Infinity) return
    this.#unwatch()
    this.#watchedSince = since
    // After the turn of the event loop that reads sockets: a busy process may have an answer already.
    this.#timer = timers.setTimeout(() => setImmediate(() => {
      this.#unwatch()
      this.dropLate()
      if (this.size > 0) this.#watch(Math.min(...this.#waits.values()))
    }), Math.max(since + maxWaitMs - now(), 0) + 1)
  }

  #unwatch (): void {
    timers.clear(this.#timer)
    this.#timer = undefined
    this.#watchedSince = Infinity
  }
}

// The call counter of one process.

import { LRUCache } from 'lru-cache'
import { clock } from '../../base/time.ts'
import { PARTS, type CallCounter, type CountedRate, type UsedRate } from './call-counter.ts'

export interface LocalCallCounter extends CallCounter {
  count<R extends CountedRate> (rates: readonly R[]): UsedRate<R> | undefined
  /** The time until the rate allows a call, in milliseconds. 0 if it allows one now. Counts nothing. */
  waitMs (rate: CountedRate): number
  /** Counts a call that was admitted elsewhere, also if a rate is used up. */
  note (rates: readonly CountedRate[]): void
}

interface LocalCallCounterOptions {
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
  /**
   * How many keys are kept, each in less than a kilobyte. Above it the key that was idle longest is
   * forgotten: its caller may use the whole rate again. 50,000 by default.
   */
  readonly maxKeys?: number
}

export function createLocalCallCounter (
  { now = clock.monotonic, maxKeys = 50_000 }: LocalCallCounterOptions = {}
): LocalCallCounter {
  // `max` would allocate the place of each key now: 4 ms and 1.5 MB.
  const windows = new LRUCache<string, Window>({ maxSize: maxKeys, sizeCalculation: () => 1 })

  function add ({ key, perMs }: CountedRate, time: number): void {
    let window = windows.peek(key)
    if (window === undefined) windows.set(key, window = new Window())
    window.add(perMs, time)
  }

  return {
    waitMs: (rate) => windows.get(rate.key)?.waitMs(rate, now()) ?? 0,
    count (rates) {
      const time = now()
      let used: UsedRate<typeof rates[number]> | undefined
      for (const rate of rates) {
        const waitMs = windows.get(rate.key)?.waitMs(rate, time) ?? 0
        if (waitMs > (used?.waitMs ?? 0)) used = { rate, waitMs }
      }
      if (used !== undefined) return used
      for (const rate of rates) add(rate, time)
      return undefined
    },
    note (rates) {
      const time = now()
      for (const rate of rates) {
        // Forgets the parts that are over.
        windows.get(rate.key)?.waitMs(rate, time)
        add(rate, time)
      }
    }
  }
}

/** The calls of a key, by the parts of the time that they came in. */
class Window {
  /** The numbers of the parts that have calls, oldest first. */
  readonly #parts: number[] = []
  readonly #calls: number[] = []
  #total = 0

  add (perMs: number, time: number): void {
    const part = Math.floor(time * PARTS / perMs)
    if (this.#parts.at(-1) !== part) {
      this.#parts.push(part)
      this.#calls.push(0)
    }
    this.#calls[this.#calls.length - 1] = (this.#calls.at(-1) ?? 0) + 1
    this.#total++
  }

  /** 0 if the rate allows a call. */
  waitMs ({ calls, perMs }: CountedRate, time: number): number {
    const oldest = Math.floor(time * PARTS / perMs) - PARTS
    if ((this.#parts[0] ?? oldest) < oldest) this.#dropBefore(oldest)
    let left = this.#total
    if (left < calls) return 0
    for (const [index, part] of this.#parts.entries()) {
      left -= this.#calls[index] ?? 0
      if (left < calls) return (part + PARTS + 1) * perMs / PARTS - time
    }
    return 0
  }

  #dropBefore (oldest: number): void {
    const over = this.#parts.findIndex((part) => part >= oldest)
    const count = over === -1 ? this.#parts.length : over
    this.#parts.splice(0, count)
    for (const number of this.#calls.splice(0, count)) this.#total -= number
  }
}

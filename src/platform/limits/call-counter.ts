// Counts the calls of a time, for limits. The interface: each backend has an implementation.

import type { Rate } from './rate.ts'

/** A rate, and whose calls it counts. */
export interface CountedRate extends Rate {
  /** Calls with the same key count together. */
  readonly key: string
}

/** A rate that allows no call now. */
export interface UsedRate<R extends CountedRate = CountedRate> {
  readonly rate: R
  /** The time until it allows one, if no other call comes first. */
  readonly waitMs: number
}

/**
 * The window of a rate slides in 30 steps. The oldest step counts in full until it has left, so no span has
 * more calls than the rate says, and a call may wait for one step longer.
 */
export const PARTS = 30

export interface CallCounter {
  /**
   * Counts a call for all of the rates, or, if one of them is used up, for none. The answer is then the rate
   * with the longest wait. Never rejects.
   */
  count<R extends CountedRate> (
    rates: readonly R[]
  ): UsedRate<R> | undefined | Promise<UsedRate<R> | undefined>
}

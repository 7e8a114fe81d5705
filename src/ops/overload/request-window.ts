// Finds how many requests may be served at once, so that the event loop keeps a target delay. The window
// shrinks by a factor and grows with each request, as that of TCP. A request that ends makes room for another
// one: the more requests come, the greater is the share that finds no room. A fixed threshold of the delay
// would refuse everything and nothing in turns. A share that follows the delay would come a turn too late.

import type { LoopMeasurement } from './pressure.ts'

/** A single long task does not count: the delay must be too long for this time, in several measurements. */
const LASTING_MS = 300
/** The window shrinks to at least this part of itself at once. */
const MIN_FACTOR = 0.5
/** For each request that begins while there is no delay, the window grows by this. */
const GROWTH = 0.5
/** Other work, such as a reload, may keep the loop busy. Then it would not help to refuse these few. */
const MIN_LIMIT = 16
/** A loop that is idle for a part of the time has no queue that lasts. */
const BUSY = 0.9

export interface Measurement extends LoopMeasurement {
  /** The most requests that were served at once since the last measurement. */
  readonly mostServed: number
  /** How many requests began since the last measurement. */
  readonly begun: number
}

export interface RequestWindow {
  /** How many requests may be served at once. */
  readonly limit: number
  update (measurement: Measurement): void
}

export function createRequestWindow (targetMs: number, maxLimit: number): RequestWindow {
  const minLimit = Math.min(MIN_LIMIT, maxLimit)
  let limit = maxLimit
  let measurements = 0
  let tooLongMs = 0
  /** How many requests must begin before the window shrinks again. */
  let until = 0

  function grow (part: number, begun: number): void {
    limit = Math.min(limit + Math.max(begun * GROWTH * part, 1), maxLimit)
  }

  function shrink (factor: number, mostServed: number): void {
    limit = Math.max(Math.min(limit, mostServed) * Math.max(factor, MIN_FACTOR), minLimit)
    until = mostServed
  }

  return {
    get limit () { return Math.floor(limit) },
    update ({ utilization, delayMs, elapsedMs, mostServed, begun }) {
      until -= begun
      if (delayMs <= targetMs || utilization < BUSY) {
        measurements = tooLongMs = 0
        return grow(Math.max(1 - delayMs / targetMs, 1 - utilization), begun)
      }
      measurements++
      tooLongMs += elapsedMs
      const isLasting = measurements > 1 && tooLongMs >= LASTING_MS
      if (isLasting && until <= 0) shrink(targetMs / delayMs, mostServed)
    }
  }
}

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

export class RequestWindow {
  readonly #targetMs: number
  readonly #maxLimit: number
  #limit: number
  #measurements = 0
  #tooLongMs = 0
  /** How many requests must begin before the window shrinks again. */
  #until = 0

  constructor (targetMs: number, maxLimit: number) {
    this.#targetMs = targetMs
    this.#maxLimit = this.#limit = maxLimit
  }

  /** How many requests may be served at once. */
  get limit (): number { return Math.floor(this.#limit) }

  update ({ utilization, delayMs, elapsedMs, mostServed, begun: requests }: Measurement): void {
    this.#until -= requests
    if (delayMs <= this.#targetMs || utilization < BUSY) {
      this.#measurements = this.#tooLongMs = 0
      const part = Math.max(1 - delayMs / this.#targetMs, 1 - utilization)
      this.#limit = Math.min(this.#limit + Math.max(requests * GROWTH * part, 1), this.#maxLimit)
      return
    }
    this.#measurements++
    this.#tooLongMs += elapsedMs
    const isLasting = this.#measurements > 1 && this.#tooLongMs >= LASTING_MS
    if (isLasting && this.#until <= 0) this.#shrink(this.#targetMs / delayMs, mostServed)
  }

  #shrink (factor: number, mostServed: number): void {
    const minLimit = Math.min(MIN_LIMIT, this.#maxLimit)
    this.#limit = Math.max(Math.min(this.#limit, mostServed) * Math.max(factor, MIN_FACTOR), minLimit)
    this.#until = mostServed
  }
}

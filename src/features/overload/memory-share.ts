// Decides which share of the requests the memory leaves no room for.

/** At this part of the memory every request is refused. */
export const MAX_MEMORY_PERCENT = 90
/** The part of that limit from which on a share of the requests is refused. */
const MEMORY_BEGIN = 0.9
/** The memory is measured at least after so many more requests: a burst may fill it in one turn. */
const MEASURE_EVERY_REQUESTS = 8
/** What is left of the expected growth with each measurement of requests that took less. */
const EXPECTED_LATER = 0.8

export class MemoryShare {
  /** The memory in use when it was last measured, in percent. */
  percent = 0
  readonly #measure: () => number
  /** The fewest requests that were served at once since the memory was measured. */
  #served = 0
  /** What one more request is expected to take, in percent of the memory. */
  #growth = 0
  /** After so many more requests the memory is measured again. */
  #interval = MEASURE_EVERY_REQUESTS
  /** The part of the requests to refuse. */
  #share = 0
  /** Grows by the share with each request. One request is refused for each whole. */
  #due = 0
  /** Whether the next request is served if it has room, whatever the share. It corrects the share. */
  #isTrial = false

  /** @param measure returns the part of the memory in use, from 0 to 1. */
  constructor (measure: () => number) {
    this.#measure = measure
    this.update(0)
  }

  /**
   * Whether the next request must be refused.
   * @param served how many requests are served, the next one included.
   */
  mustRefuse (served: number): boolean {
    if (served < this.#served) this.#served = served
    const newRequests = served - this.#served
    if (newRequests >= this.#interval) {
      const before = this.percent
      this.#update(served)
      // The next requests of the burst may take as much.
      this.#expect(Math.max((this.percent - before) / newRequests, this.#growth * EXPECTED_LATER))
    }
    if (this.#isTrial && this.percent < MAX_MEMORY_PERCENT && this.percent + this.#growth < 100) {
      this.#isTrial = false
      return false
    }
    this.#due += this.#share
    if (this.#due < 1) return false
    this.#due--
    return true
  }

  /** Measures the memory when it is time. */
  update (served: number): void {
    this.#update(served)
    this.#expect(this.#growth)
    this.#isTrial = true
  }

  #update (served: number): void {
    this.#served = served
    this.percent = this.#measure() * 100
  }

  #expect (growth: number): void {
    this.#growth = growth
    this.#share = toShare((this.percent + growth) / MAX_MEMORY_PERCENT)
    const room = growth > 0 ? Math.floor((MAX_MEMORY_PERCENT - this.percent) / growth) : Infinity
    this.#interval = Math.min(Math.max(room, 1), MEASURE_EVERY_REQUESTS)
  }
}

/** 0 up to the beginning, 1 at the limit and beyond. */
function toShare (used: number): number {
  return Math.min(Math.max((used - MEMORY_BEGIN) / (1 - MEMORY_BEGIN), 0), 1)
}

// Decides which requests an overloaded replica refuses before it reads them.

import { createMemoryMeter, measureLoop, type LoopMeasurement, type MemoryLimits } from './pressure.ts'
import { RequestWindow } from './request-window.ts'
import { createShedReport, type ShedLog } from './shed-report.ts'

export interface SheddingOptions {
  /** Whether the delay of the event loop and the memory count. */
  readonly isMeasured: boolean
  /** How many requests may be served at once. */
  readonly maxRequests: number
  readonly memory?: MemoryLimits | undefined
  readonly log: ShedLog
  /** How many requests are being served or began in this turn of the event loop. Without open streams. */
  countRequests (): number
}

/** The delay of the event loop to keep, in milliseconds. */
export const MAX_LOOP_DELAY_MS = 50
/** At this part of the memory every request is refused. */
export const MAX_MEMORY_PERCENT = 90
const MEASURE_EVERY_MS = 100
/** The memory is also measured whenever so many more requests are served: a burst may fill it in one turn. */
const MEASURE_EVERY_REQUESTS = 8
/** The part of the memory limit from which on a share of the requests is refused. */
const MEMORY_BEGIN = 0.9

export class Shedding {
  /** How many requests were refused, by reason. */
  readonly refused = { loop_delay: 0, memory: 0, requests: 0 }
  readonly #options: SheddingOptions
  readonly #window: RequestWindow
  readonly #usedMemory: () => number
  readonly #report: ReturnType<typeof createShedReport>
  #limit: number
  #stop = (): void => {}
  #mostServed = 0
  /** How many requests were served when the memory was measured. */
  #measuredAt = 0
  #memoryPercent = 0
  #begun = 0
  /** The part of the requests to refuse because of the memory. */
  #share = 0
  /** Grows by the share with each request. One request is refused for each whole. */
  #due = 0

  constructor (options: SheddingOptions) {
    this.#options = options
    this.#window = new RequestWindow(MAX_LOOP_DELAY_MS, options.maxRequests)
    this.#usedMemory = createMemoryMeter(options.memory ?? {})
    this.#report = createShedReport(options.log)
    this.#limit = options.maxRequests
  }

  /** How many requests may be served at once now. */
  get limit (): number { return this.#limit }

  /** Begins to measure. */
  start (): void {
    this.#stop = measureLoop(MEASURE_EVERY_MS, (loop) => this.#update(loop))
  }

  close (): void { this.#stop() }

  /** Whether the next request must be refused. */
  mustRefuse (): boolean {
    const requests = this.#options.countRequests() + 1
    if (requests > this.#limit) {
      this.refused[this.#limit < this.#options.maxRequests ? 'loop_delay' : 'requests']++
      return true
    }
    if (requests > this.#mostServed) this.#mostServed = requests
    if (requests - this.#measuredAt >= MEASURE_EVERY_REQUESTS) {
      const before = this.#memoryPercent
      this.#measureMemory(requests)
      // The next requests of the burst may take as much.
      this.#shareMemory(this.#memoryPercent + Math.max(this.#memoryPercent - before, 0))
    }
    this.#due += this.#share
    if (this.#due >= 1) {
      this.#due--
      this.refused.memory++
      return true
    }
    this.#begun++
    return false
  }

  #update (loop: LoopMeasurement): void {
    const { isMeasured, countRequests } = this.#options
    const requests = countRequests()
    if (isMeasured) this.#window.update({ ...loop, mostServed: this.#mostServed, begun: this.#begun })
    this.#limit = this.#window.limit
    this.#mostServed = requests
    this.#begun = 0
    this.#measureMemory(requests)
    this.#shareMemory(this.#memoryPercent)
    this.#report({
      refused: this.refused.loop_delay + this.refused.memory + this.refused.requests,
      loopDelayMs: Math.round(loop.delayMs),
      memoryPercent: Math.round(this.#memoryPercent),
      requests,
      limit: this.#limit
    })
  }

  #measureMemory (requests: number): void {
    this.#measuredAt = requests
    this.#memoryPercent = this.#usedMemory() * 100
  }

  #shareMemory (percent: number): void {
    this.#share = this.#options.isMeasured ? toShare(percent / MAX_MEMORY_PERCENT) : 0
  }
}

/** 0 up to the beginning, 1 at the limit and beyond. */
function toShare (used: number): number {
  return Math.min(Math.max((used - MEMORY_BEGIN) / (1 - MEMORY_BEGIN), 0), 1)
}

// Decides which requests an overloaded replica refuses before it reads them.

import { createMemoryMeter, measureLoop, type LoopMeasurement, type MemoryLimits } from './pressure.ts'
import { RequestWindow } from './request-window.ts'
import { createShedReport, type ShedLog } from './shed-report.ts'

export interface SheddingOptions {
  /** The delay of the event loop to keep, in milliseconds. 0: the delay does not count. */
  readonly maxLoopDelayMs: number
  /** At this part of the memory every request is refused. 100: the memory does not count. */
  readonly maxMemoryPercent: number
  /** How many requests may be served at once. */
  readonly maxRequests: number
  readonly memory?: MemoryLimits | undefined
  readonly log: ShedLog
  /** How many requests are being served or began in this turn of the event loop. Without open streams. */
  countRequests (): number
}

const MEASURE_EVERY_MS = 100
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
  #begun = 0
  /** The part of the requests to refuse because of the memory. */
  #share = 0
  /** Grows by the share with each request. One request is refused for each whole. */
  #due = 0

  constructor (options: SheddingOptions) {
    this.#options = options
    this.#window = new RequestWindow(options.maxLoopDelayMs, options.maxRequests)
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
    const { maxLoopDelayMs, maxMemoryPercent, countRequests } = this.#options
    const requests = countRequests()
    if (maxLoopDelayMs > 0) this.#window.update({ ...loop, mostServed: this.#mostServed, begun: this.#begun })
    this.#limit = this.#window.limit
    this.#mostServed = requests
    this.#begun = 0
    const memoryPercent = this.#usedMemory() * 100
    this.#share = maxMemoryPercent === 100 ? 0 : toShare(memoryPercent / maxMemoryPercent)
    this.#report({
      refused: this.refused.loop_delay + this.refused.memory + this.refused.requests,
      loopDelayMs: Math.round(loop.delayMs),
      memoryPercent: Math.round(memoryPercent),
      requests,
      limit: this.#limit
    })
  }
}

/** 0 up to the beginning, 1 at the limit and beyond. */
function toShare (used: number): number {
  return Math.min(Math.max((used - MEMORY_BEGIN) / (1 - MEMORY_BEGIN), 0), 1)
}

// Decides which requests an overloaded replica refuses before it reads them.

import { MemoryShare } from './memory-share.ts'
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
const MEASURE_EVERY_MS = 100

export class Shedding {
  /** How many requests were refused, by reason. */
  readonly refused = { loop_delay: 0, memory: 0, requests: 0 }
  readonly #options: SheddingOptions
  readonly #window: RequestWindow
  readonly #memory: MemoryShare
  readonly #report: ReturnType<typeof createShedReport>
  #limit: number
  #stop = (): void => {}
  #mostServed = 0
  #begun = 0

  constructor (options: SheddingOptions) {
    this.#options = options
    this.#window = new RequestWindow(MAX_LOOP_DELAY_MS, options.maxRequests)
    this.#memory = new MemoryShare(createMemoryMeter(options.memory ?? {}))
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
    if (this.#options.isMeasured && this.#memory.mustRefuse(requests)) {
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
    this.#memory.update(requests)
    this.#report({
      refused: this.refused.loop_delay + this.refused.memory + this.refused.requests,
      loopDelayMs: Math.round(loop.delayMs),
      memoryPercent: Math.round(this.#memory.percent),
      requests,
      limit: this.#limit
    })
  }
}

// Decides which requests an overloaded replica refuses before it reads them.

import { createMemoryMeter, measureLoop, type LoopMeasurement, type MemoryLimits } from './pressure.ts'
import { createRequestWindow } from './request-window.ts'
import type { ShedState } from './shed-report.ts'

export interface SheddingOptions {
  /** The delay of the event loop to keep, in milliseconds. 0: the delay does not count. */
  readonly maxLoopDelayMs: number
  /** At this part of the memory every request is refused. 100: the memory does not count. */
  readonly maxMemoryPercent: number
  /** How many requests may be served at once. */
  readonly maxRequests: number
  readonly memory?: MemoryLimits | undefined
  /** How many requests are being served or began in this turn of the event loop. Without open streams. */
  countRequests (): number
  /** Called ten times a second. */
  report (state: ShedState): void
}

export type ShedReason = 'loop_delay' | 'memory' | 'requests'

export interface Shedding {
  /** Whether the next request must be refused. */
  mustRefuse (): boolean
  /** How many requests were refused, by reason. */
  readonly refused: { readonly [R in ShedReason]: number }
  /** How many requests may be served at once now. */
  readonly limit: number
  /** Begins to measure. */
  start (): void
  close (): void
}

const MEASURE_EVERY_MS = 100
/** The part of the memory limit from which on a share of the requests is refused. */
const MEMORY_BEGIN = 0.9

export function createShedding (options: SheddingOptions): Shedding {
  const { maxLoopDelayMs, maxMemoryPercent, maxRequests, countRequests, report } = options
  const window = createRequestWindow(maxLoopDelayMs, maxRequests)
  const usedMemory = createMemoryMeter(options.memory ?? {})
  const refused = { loop_delay: 0, memory: 0, requests: 0 }
  let stop = (): void => {}
  let mostServed = 0
  let begun = 0
  let limit = maxRequests
  /** The part of the requests to refuse because of the memory. */
  let share = 0
  /** Grows by the share with each request. One request is refused for each whole. */
  let due = 0

  function onMeasured (loop: LoopMeasurement): void {
    const total = refused.loop_delay + refused.memory + refused.requests
    const requests = countRequests()
    if (maxLoopDelayMs > 0) window.update({ ...loop, mostServed, begun })
    limit = window.limit
    mostServed = requests
    begun = 0
    const memoryPercent = usedMemory() * 100
    share = maxMemoryPercent === 100 ? 0 : toShare(memoryPercent / maxMemoryPercent)
    report({
      refused: total,
      loopDelayMs: Math.round(loop.delayMs),
      memoryPercent: Math.round(memoryPercent),
      requests,
      limit
    })
  }

  return {
    mustRefuse () {
      const requests = countRequests() + 1
      if (requests > limit) {
        refused[limit < maxRequests ? 'loop_delay' : 'requests']++
        return true
      }
      if (requests > mostServed) mostServed = requests
      due += share
      if (due >= 1) {
        due--
        refused.memory++
        return true
      }
      begun++
      return false
    },
    refused,
    get limit () { return limit },
    start () { stop = measureLoop(MEASURE_EVERY_MS, onMeasured) },
    close () { stop() }
  }
}

/** 0 up to the beginning, 1 at the limit and beyond. */
function toShare (used: number): number {
  return Math.min(Math.max((used - MEMORY_BEGIN) / (1 - MEMORY_BEGIN), 0), 1)
}

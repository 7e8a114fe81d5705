// Measures the delay of the event loop and the memory in use.

import { totalmem } from 'node:os'
import { monitorEventLoopDelay, type Histogram } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { clock, timers } from '../../base/time.ts'

/** How often the delay is sampled, in milliseconds. */
const RESOLUTION_MS = 10
const NS_PER_MS = 1_000_000

export interface LoopMeasurement {
  /** The time since the last measurement, in milliseconds. */
  readonly elapsedMs: number
  /** How long a turn took, in milliseconds: the one that a request finds when it comes at any time. */
  readonly delayMs: number
  /** The part of the time in which the event loop was not idle. */
  readonly utilization: number
}

/** Measures the event loop until the returned function is called. Does not keep the process alive. */
export function measureLoop (
  everyMs: number, onMeasured: (measurement: LoopMeasurement) => void
): () => void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let used = performance.eventLoopUtilization()
  let measuredAt = clock.monotonic()
  const timer = timers.setInterval(() => {
    const elapsedMs = clock.monotonic() - measuredAt
    // In a long turn this timer may come before that of the histogram.
    const delayMs = Math.max(toDelayMs(histogram), elapsedMs - everyMs)
    const total = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(total, used)
    histogram.reset()
    used = total
    measuredAt += elapsedMs
    onMeasured({ elapsedMs, delayMs, utilization })
  }, everyMs).unref()
  return () => {
    timers.clear(timer)
    histogram.disable()
  }
}

/** The mean of the turns, each with its own length as its weight. */
function toDelayMs ({ count, mean, stddev }: Histogram): number {
  if (count === 0) return 0
  // A sample is the time between two turns of a timer, so it includes the timer's own time.
  return Math.max((mean + stddev ** 2 / mean) / NS_PER_MS - RESOLUTION_MS, 0)
}

/** The memory to watch. The memory of the machine by default, and the heap that V8 reports. */
export interface MemoryLimits {
  /** What the container may use, in bytes. */
  readonly containerBytes?: number | undefined
  /** What the old generation of the heap may have, in bytes. */
  readonly heapBytes?: number | undefined
}

/**
 * Returns the part of the memory in use, from 0 to 1: of the heap, or of all memory that the process may
 * have. Memory that the process holds without using it does not count.
 */
export function createMemoryMeter (limits: MemoryLimits): () => number {
  const { containerBytes = Infinity, heapBytes = Infinity } = limits
  const memoryBytes = Math.min(containerBytes, totalmem())
  // V8 adds the young generation, which may be large, to its limit. It dies when the old one is full.
  const limit = Math.min(heapBytes, getHeapStatistics().heap_size_limit)
  return () => {
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
    return Math.max((heap - usedByYoung()) / limit, (heap + external) / memoryBytes)
  }
}

/** Without young objects that are large: those that are in use become old ones without a copy. */
function usedByYoung (): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return space?.space_used_size ?? 0
}

// Work that is asked for more often than it may run.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { clock, type Timer, timers } from '../../../base/time.ts'

export interface Throttle {
  /** Asks for a run. All requests before it begins share one run. */
  request (): void
  /** Runs now what was asked for, and resolves when no run is left. */
  flush (): Promise<void>
  /** Drops what has not begun. */
  close (): void
}

/**
 * Runs the work in a turn of its own, one run at a time, and begins at most one in `intervalMs`.
 * @param work must not reject.
 */
export function createThrottle (intervalMs: number, work: () => Promise<void>): Throttle {
  let isAsked = false
  let isClosed = false
  let begunAt = -Infinity
  let running: Promise<void> | undefined
  let timer: Timer | undefined

  function request (): void {
    if (isClosed) return
    isAsked = true
    if (running !== undefined || timer !== undefined) return
    const waitMs = begunAt + intervalMs - clock.monotonic()
    if (waitMs > 0) timer = timers.setTimeout(begin, waitMs).unref()
    else begin()
  }

  function begin (): void {
    timers.clear(timer)
    timer = undefined
    isAsked = false
    begunAt = clock.monotonic()
    running = run()
  }

  async function run (): Promise<void> {
    await nextTurn()
    if (!isClosed) await work()
    running = undefined
    if (isAsked) request()
  }

  return {
    request,
    async flush () {
      if (isAsked && running === undefined) begin()
      await running
      if (isAsked && !isClosed) await this.flush()
    },
    close () {
      isClosed = true
      timers.clear(timer)
    }
  }
}

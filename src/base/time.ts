// The one source of clocks, timers and random numbers. A test or a simulation replaces it for the whole
// process; every other file takes them from here.

import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pauseInNode } from 'node:timers/promises'

/** A timer that was started. */
export interface Timer {
  /** Lets the process end while the timer runs. */
  unref (): this
  /** Begins its time again. */
  refresh (): this
}

interface PauseOptions {
  /** Rejects the pause when it aborts. */
  readonly signal?: AbortSignal
  /** Whether the pause keeps the process alive. True by default. */
  readonly ref?: boolean
}

/** A source of time and randomness. */
export interface TimeSource {
  /** Milliseconds since the epoch. */
  now (): number
  /** Milliseconds since any moment. Never goes back. */
  monotonic (): number
  /** Calls back after the time, which is MAX_TIMER_MS at most. */
  setTimeout (callback: () => void, ms: number): Timer
  /** Calls back each time, at the latest after MAX_TIMER_MS. */
  setInterval (callback: () => void, ms: number): Timer
  /** Stops a timer of either kind. Does nothing for one that is over. */
  clear (timer: Timer | undefined): void
  /** Resolves after the time, at the latest after MAX_TIMER_MS. */
  pause (ms: number, options?: PauseOptions): Promise<void>
  /** From 0 to below 1. */
  random (): number
  randomBytes (size: number): Buffer
  randomUuid (): string
}

/** The longest timer of Node, 24.8 days, in milliseconds. Node fires a longer one at once. */
export const MAX_TIMER_MS = 2_147_483_647

const toTimerMs = (ms: number) => Math.min(ms, MAX_TIMER_MS)

const SYSTEM: TimeSource = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  setInterval: (callback, ms) => setInterval(callback, toTimerMs(ms)),
  // Node stops both kinds with either function, and ignores what it did not make.
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
  pause: async (ms, options) => await pauseInNode(toTimerMs(ms), undefined, options),
  random: () => Math.random(),
  randomBytes: (size) => randomBytes(size),
  randomUuid: () => randomUUID()
}

let source = SYSTEM

/** Replaces parts of the source. Returns a function that brings back the source that it replaced. */
export function replaceTime (parts: Partial<TimeSource>): () => void {
  const replaced = source
  source = { ...source, ...parts }
  return () => { source = replaced }
}

export const clock = {
  /** Milliseconds since the epoch. Its differences are no durations: the system may set it. */
  now: (): number => source.now(),
  /** Milliseconds since any moment, for durations. Never goes back. */
  monotonic: (): number => source.monotonic()
}

/**
 * Creates a clock that follows the clock of the system, but never back: what waits for a time does not wait
 * longer when the clock of the system is corrected. In milliseconds since the epoch.
 */
export function createForwardClock (): () => number {
  let time = clock.now()
  let readAt = clock.monotonic()
  return () => {
    const passedMs = clock.monotonic() - readAt
    readAt += passedMs
    time = Math.max(clock.now(), time + passedMs)
    return Math.floor(time)
  }
}

/** Starts a timer of equal parts, which begins again until all of them are over. */
function startLongTimer (callback: () => void, ms: number): Timer {
  const parts = Math.ceil(Math.min(ms, Number.MAX_SAFE_INTEGER) / MAX_TIMER_MS)
  let left = parts
  const timer = source.setTimeout(() => {
    if (--left > 0) refreshPart()
    else callback()
  }, Math.min(Math.ceil(ms / parts), MAX_TIMER_MS))
  const refreshPart = timer.refresh.bind(timer)
  timer.refresh = () => {
    left = parts
    return refreshPart()
  }
  return timer
}

export const timers = {
  /** Calls back after any time. */
  setTimeout: (callback: () => void, ms: number): Timer => (
    ms > MAX_TIMER_MS ? startLongTimer(callback, ms) : source.setTimeout(callback, ms)
  ),
  setInterval: (callback: () => void, ms: number): Timer => source.setInterval(callback, ms),
  clear: (timer: Timer | undefined): void => source.clear(timer),
  /** Resolves after a time. Rejects when the signal of the options aborts. */
  pause: async (ms: number, options?: PauseOptions): Promise<void> => await source.pause(ms, options)
}

export const random = {
  /** From 0 to below 1. */
  number: (): number => source.random(),
  bytes: (size: number): Buffer => source.randomBytes(size),
  /** A name that nobody can guess, in the letters of URLs. @param size in bytes of randomness. */
  name: (size: number): string => source.randomBytes(size).toString('base64url'),
  uuid: (): string => source.randomUuid()
}

/** The clock of one service: a test of a catalog can put it forward. */
export interface Clock {
  /** Milliseconds since the epoch. By default those of the source. */
  readonly now?: () => number
}

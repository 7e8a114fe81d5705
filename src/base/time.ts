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
  /** Any length of time. */
  setTimeout (callback: () => void, ms: number): Timer
  setInterval (callback: () => void, ms: number): Timer
  /** Stops a timer of either kind. Does nothing for one that is over. */
  clear (timer: Timer | undefined): void
  pause (ms: number, options?: PauseOptions): Promise<void>
  /** From 0 to below 1. */
  random (): number
  randomBytes (size: number): Buffer
  randomUuid (): string
}

/** Node fires a longer timer at once, in milliseconds. */
const MAX_TIMER_MS = 2_147_483_647

/** A timer that is longer than those of Node: one of them after another. */
class LongTimer implements Timer {
  readonly #callback: () => void
  readonly #ms: number
  #part: NodeJS.Timeout

  constructor (callback: () => void, ms: number) {
    this.#callback = callback
    this.#ms = ms
    this.#part = this.#begin(ms)
  }

  unref (): this {
    this.#part.unref()
    return this
  }

  refresh (): this {
    const hasRef = this.#part.hasRef()
    this.stop()
    this.#part = this.#begin(this.#ms, hasRef)
    return this
  }

  stop (): void { clearTimeout(this.#part) }

  #begin (leftMs: number, hasRef = true): NodeJS.Timeout {
    if (leftMs <= MAX_TIMER_MS) return withRef(setTimeout(this.#callback, leftMs), hasRef)
    return withRef(setTimeout(() => {
      this.#part = this.#begin(leftMs - MAX_TIMER_MS, this.#part.hasRef())
    }, MAX_TIMER_MS), hasRef)
  }
}

const withRef = (timer: NodeJS.Timeout, hasRef: boolean) => hasRef ? timer : timer.unref()

async function pauseInParts (ms: number, options?: PauseOptions): Promise<void> {
  let leftMs = ms
  for (; leftMs > MAX_TIMER_MS; leftMs -= MAX_TIMER_MS) await pauseInNode(MAX_TIMER_MS, undefined, options)
  await pauseInNode(leftMs, undefined, options)
}

const SYSTEM: TimeSource = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (callback, ms) => ms > MAX_TIMER_MS ? new LongTimer(callback, ms) : setTimeout(callback, ms),
  setInterval: (callback, ms) => setInterval(callback, Math.min(ms, MAX_TIMER_MS)),
  clear (timer) {
    if (timer instanceof LongTimer) timer.stop()
    // Node stops both kinds with either function, and ignores what it did not make.
    else clearTimeout(timer as NodeJS.Timeout | undefined)
  },
  pause: pauseInParts,
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

export const timers = {
  setTimeout: (callback: () => void, ms: number): Timer => source.setTimeout(callback, ms),
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

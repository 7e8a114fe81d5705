// A source of time that a test moves. Timers fire in their order, as fast as the process can run them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Test } from 'tap'
import { MAX_TIMER_MS, replaceTime, timers, type Timer } from '../../src/base/time.ts'

interface VirtualTimer extends Timer {
  at: number
  readonly callback: () => void
  readonly ms: number
  readonly everyMs: number | undefined
}

const DEADLINE_MS = 5000
/** The pause between two looks, in milliseconds. */
const LOOK_MS = 40
/** Turns of the event loop in which everything that needs no timer happens. */
const TURNS = 4

export class VirtualTime {
  #now = 1_800_000_000_000
  readonly #timers = new Set<VirtualTimer>()

  /** Replaces the time of the process until the test ends. */
  constructor (t: Test) {
    t.teardown(replaceTime({
      now: () => this.#now,
      monotonic: () => this.#now,
      // Node fires a longer one at once too.
      setTimeout: (callback, ms) => this.#add(callback, ms > MAX_TIMER_MS ? 1 : ms, undefined),
      setInterval: (callback, ms) => this.#add(callback, ms, ms),
      clear: (timer) => { this.#timers.delete(timer as VirtualTimer) },
      pause: async (ms, { signal } = {}) => await new Promise<void>((resolve, reject) => {
        const fail = () => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
        if (signal?.aborted === true) return fail()
        signal?.addEventListener('abort', fail, { once: true })
        this.#add(resolve, ms, undefined)
      })
    }))
  }

  get now (): number { return this.#now }

  /** Lets time pass in which no timer fires: the process is paused. */
  skip (ms: number): void { this.#now += ms }

  /** Stops all timers: the processes that began them are gone. */
  stopTimers (): void { this.#timers.clear() }

  /**
   * Lets time pass until the work has settled. Rejects after `maxMs`.
   * @param isIdle whether nothing goes on without a timer. A few turns of the event loop say so by default.
   */
  async during<T> (work: Promise<T>, maxMs: number, isIdle = () => true): Promise<T> {
    const progress = { isSettled: false }
    const settle = () => { progress.isSettled = true }
    work.then(settle, settle)
    const end = this.#now + maxMs
    for (;;) {
      for (let turn = 0; (turn < TURNS || !isIdle()) && !progress.isSettled; turn++) await nextTurn()
      if (progress.isSettled) return await work
      const next = this.#findNext()
      if (next === undefined || next.at > end) throw new Error(`not done within ${maxMs} ms`)
      this.#fire(next)
    }
  }

  /** Lets time pass until the condition holds. Rejects at the deadline. */
  async until (
    holds: () => boolean | Promise<boolean>, what: string, deadlineMs = DEADLINE_MS
  ): Promise<void> {
    const end = this.#now + deadlineMs
    while (!await holds()) {
      if (this.#now > end) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
      await this.during(timers.pause(LOOK_MS), LOOK_MS)
    }
  }

  /** Finds the earliest timer. Of several at the same time it is the one that was added first. */
  #findNext (): VirtualTimer | undefined {
    let next: VirtualTimer | undefined
    for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer
    return next
  }

  #fire (timer: VirtualTimer): void {
    this.#now = Math.max(this.#now, timer.at)
    if (timer.everyMs === undefined) this.#timers.delete(timer)
    else timer.at = this.#now + timer.everyMs
    timer.callback()
  }

  #add (callback: () => void, ms: number, everyMs: number | undefined): VirtualTimer {
    const timer: VirtualTimer = {
      at: this.#now + Math.max(0, ms),
      callback,
      ms,
      everyMs,
      unref: () => timer,
      refresh: () => {
        timer.at = this.#now + ms
        this.#timers.add(timer)
        return timer
      }
    }
    this.#timers.add(timer)
    return timer
  }
}

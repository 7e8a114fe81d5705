// The lifetime of a request: its abort signal, its timer, and the listeners for its stop and its end.

import { clock, type Timer, timers } from '../../base/time.ts'

/** The handler reached its time limit. */
export class HandlerTimeout extends Error {
  override readonly name = 'TimeoutError'
  readonly timeoutMs: number

  constructor (timeoutMs: number) {
    super(`stopped after ${timeoutMs} ms`)
    this.timeoutMs = timeoutMs
  }
}

/** The client cancelled the request or ended its session. The request gets no answer. */
export class RequestCancelled extends Error {
  override readonly name = 'AbortError'
  constructor () { super('The client cancelled the request') }
}

/** The client closed the connection before the answer. */
export class ClientGone extends Error {
  override readonly name = 'AbortError'
  constructor () { super('The client is gone') }
}

/** The service is shutting down, and the request did not end within the deadline. */
export class ServiceClosing extends Error {
  override readonly name = 'AbortError'
  constructor () { super('The service is shutting down') }
}

/** Some promises never settle, such as one whose callback is lost. In milliseconds. */
const ABANDONED_MS = 600_000

/**
 * Begins with the request. `end` is called once, with the answer. `stop` may be called before, to end the
 * work early: the signal aborts, and the request still needs an answer.
 */
export class Lifetime {
  #reason: Error | undefined
  #isOver = false
  #onStop: Array<(reason: Error) => void> | undefined
  #onEnd: Array<() => void> | undefined
  #onIdle: Array<() => void> | undefined
  /** How many handlers run. */
  #handlers = 0
  #abandoned: Timer | undefined
  #outlivesClient = false
  /** Created when `signal` is first read: most handlers do not read it. */
  #controller: AbortController | undefined
  #limitMs: number | undefined
  #timer: Timer | undefined
  #isTimed = false
  #pauses = 0
  /** When the clock went on after its last pause. */
  #resumedAt: number | undefined
  #passing: { readonly ms: number, readonly listener: () => void } | undefined

  /** Aborts when the request is stopped. */
  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  get isOver (): boolean { return this.#isOver }

  /** Whether the request is neither stopped nor over: messages may still be sent before the answer. */
  get isActive (): boolean { return !this.#isOver && this.#reason === undefined }

  /** Why the request was stopped. `undefined` if it was not. */
  get reason (): Error | undefined { return this.#reason }

  /** Throws the reason if the request is stopped: no further work with effects may begin. */
  throwIfStopped (): void { if (this.#reason !== undefined) throw this.#reason }

  /** Says that the request goes on without its client: a repetition gets the answer. */
  outliveClient (): void { this.#outlivesClient = true }

  /** Does nothing when the request is already stopped or over. */
  stop (reason: Error): void {
    if (!this.isActive || (this.#outlivesClient && reason instanceof ClientGone)) return
    this.#reason = reason
    this.#clearTimers()
    this.#controller?.abort(reason)
    const listeners = this.#onStop
    this.#onStop = undefined
    if (this.#handlers > 0) {
      this.#abandoned = timers.setTimeout(() => this.#tellIdle(), ABANDONED_MS).unref()
    }
    for (const listener of listeners ?? []) listener(reason)
  }

  end (): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#clearTimers()
    this.#onStop = undefined
    const listeners = this.#onEnd
    this.#onEnd = undefined
    for (const listener of listeners ?? []) listener()
  }

  /** Calls the listener when the request is stopped; immediately if it is stopped already. */
  onStop (listener: (reason: Error) => void): void {
    if (this.#reason !== undefined) listener(this.#reason)
    else if (!this.#isOver) (this.#onStop ??= []).push(listener)
  }

  /** Drops the listeners of `onStop`: the work has its outcome, which they would keep in memory. */
  releaseWork (): void { this.#onStop = undefined }

  /** Calls the listener when the request ends; immediately if it is over already. */
  onEnd (listener: () => void): void {
    if (this.#isOver) listener()
    else (this.#onEnd ??= []).push(listener)
  }

  /** Counts a handler until it settles. One that ignores the signal runs on after the end of the request. */
  track (handler: Promise<unknown>): void {
    this.#handlers++
    const leave = (): void => { if (--this.#handlers === 0) this.#tellIdle() }
    handler.then(leave, leave)
  }

  /**
   * Calls the listener when no handler of the request runs; immediately if there is none. One that has not
   * settled ten minutes after its stop counts as lost.
   */
  onIdle (listener: () => void): void {
    if (this.#handlers === 0) listener()
    else (this.#onIdle ??= []).push(listener)
  }

  /** Calls the listener when the request is over and no handler of it runs any more. */
  onSettled (listener: () => void): void { this.onEnd(() => this.onIdle(listener)) }

  /** Sets the time limit of the work. The time begins now, or with `startClock` if that comes later. */
  limit (timeoutMs: number): void {
    this.#limitMs = timeoutMs
    this.#setTimer()
  }

  /**
   * Starts the time limit. Most requests are answered within the turn of the event loop in which they
   * arrived: they need no timer.
   */
  startClock (): void {
    this.#isTimed = true
    this.#setTimer()
  }

  /**
   * Calls the listener when this time has passed since `startClock`, unless the request is stopped or over by
   * then. A pause of the clock, and a new limit, begin this time again. There is one listener at most.
   */
  onPassed (ms: number, listener: () => void): void {
    if (!this.isActive) return
    this.#passing = { ms, listener }
    this.#setTimer()
  }

  /**
   * How much of the time limit is left at least, in milliseconds. `Infinity` without a limit.
   * @param startedAt when the request began, by the monotonic clock.
   */
  leftMs (startedAt: number): number {
    if (this.#limitMs === undefined || this.#pauses > 0) return Infinity
    return this.#limitMs - (clock.monotonic() - (this.#resumedAt ?? startedAt))
  }

  /** Stops the clock until the returned function is called. The whole time limit then begins again. */
  pauseClock (): () => void {
    this.#pauses++
    this.#setTimer()
    return () => {
      this.#pauses--
      this.#resumedAt = clock.monotonic()
      this.#setTimer()
    }
  }

  #tellIdle (): void {
    timers.clear(this.#abandoned)
    const listeners = this.#onIdle
    this.#onIdle = undefined
    for (const listener of listeners ?? []) listener()
  }

  #clearTimers (): void {
    timers.clear(this.#timer)
    // Frees the listener at once: otherwise garbage collection makes a call 20 % slower.
    this.#passing = undefined
  }

  /** Uses one timer for both times: each costs 2 % of a call. @param passedMs the used part of the limit. */
  #setTimer (passedMs = 0): void {
    timers.clear(this.#timer)
    if (!this.#isTimed || !this.isActive) return
    const passing = this.#passing
    const limitMs = this.#pauses > 0 ? undefined : this.#limitMs
    if (passing !== undefined && passing.ms < (limitMs ?? Infinity)) {
      this.#timer = timers.setTimeout(() => {
        this.#passing = undefined
        this.#setTimer(passing.ms)
        passing.listener()
      }, passing.ms)
    } else if (limitMs !== undefined) {
      this.#timer = timers.setTimeout(() => this.stop(new HandlerTimeout(limitMs)), limitMs - passedMs)
    }
  }
}

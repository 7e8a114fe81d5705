// How long a request lives, and whatever hangs on that: its abort signal, its clock, and who is told of its
// end.

/** The handler took longer than it may. */
export class HandlerTimeout extends Error {
  readonly timeoutMs: number

  constructor (timeoutMs: number) {
    super(`stopped after ${timeoutMs} ms`)
    this.name = 'TimeoutError'
    this.timeoutMs = timeoutMs
  }
}

/** The client has said that it no longer wants the result: it is sent none. */
export class RequestCancelled extends Error {
  constructor () {
    super('The client cancelled the request')
    this.name = 'AbortError'
  }
}

/** The client left before its answer. */
export class ClientGone extends Error {
  constructor () {
    super('The client is gone')
    this.name = 'AbortError'
  }
}

/** The service goes down, and the request took longer than that may take. */
export class ServiceClosing extends Error {
  constructor () {
    super('The service is shutting down')
    this.name = 'AbortError'
  }
}

/**
 * Begins with the request and ends once, with `end` when the answer is on its way. `stop` comes before that,
 * where the work must end early: the signal aborts, and the request is still to be answered.
 */
export class Lifetime {
  #reason: Error | undefined
  #isOver = false
  #onStop: Array<(reason: Error) => void> | undefined
  #onEnd: Array<() => void> | undefined
  // Made when somebody asks for the signal: most handlers never do.
  #controller: AbortController | undefined
  #limitMs: number | undefined
  #timer: NodeJS.Timeout | undefined
  #isTimed = false
  #pauses = 0

  /** Aborts when the request is stopped. */
  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Whether its answer is on its way. */
  get isOver (): boolean { return this.#isOver }

  /** Whether there is still something to say before the answer. */
  get isActive (): boolean { return !this.#isOver && this.#reason === undefined }

  /** Only the first reason counts, and none after the end. */
  stop (reason: Error): void {
    if (!this.isActive) return
    this.#reason = reason
    clearTimeout(this.#timer)
    this.#controller?.abort(reason)
    const listeners = this.#onStop
    this.#onStop = undefined
    for (const listener of listeners ?? []) listener(reason)
  }

  end (): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#onStop = undefined
    const listeners = this.#onEnd
    this.#onEnd = undefined
    for (const listener of listeners ?? []) listener()
  }

  /** Calls the listener when the request is stopped: at once where it is already. */
  onStop (listener: (reason: Error) => void): void {
    if (this.#reason !== undefined) listener(this.#reason)
    else if (!this.#isOver) (this.#onStop ??= []).push(listener)
  }

  /** Calls the listener when the request has ended: at once where it has already. */
  onEnd (listener: () => void): void {
    if (this.#isOver) listener()
    else (this.#onEnd ??= []).push(listener)
  }

  /** How long the work may take: from now, or from when the clock starts. */
  limit (timeoutMs: number): void {
    this.#limitMs = timeoutMs
    this.#setTimer()
  }

  /**
   * Most requests are answered within the turn of the event loop in which they came: only the others need a
   * clock.
   */
  startClock (): void {
    this.#isTimed = true
    this.#setTimer()
  }

  /** Stops the clock until the returned function is called. The work then has its whole time again. */
  pauseClock (): () => void {
    this.#pauses++
    this.#setTimer()
    return () => {
      this.#pauses--
      this.#setTimer()
    }
  }

  #setTimer (): void {
    clearTimeout(this.#timer)
    const limitMs = this.#limitMs
    if (limitMs === undefined || !this.#isTimed || this.#pauses > 0 || !this.isActive) return
    this.#timer = setTimeout(() => this.stop(new HandlerTimeout(limitMs)), limitMs)
  }
}

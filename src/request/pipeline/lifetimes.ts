// The requests that are being served. A shutdown waits for them, then stops them.

import { ServiceClosing, type Lifetime } from './lifetime.ts'

/** Told of a request that is not answered within the turn of the event loop in which it arrived. */
export interface Watcher { onPending (lifetime: Lifetime): void }

export class Lifetimes {
  /** Requests of this turn of the event loop. One callback handles them all: most have ended when it runs. */
  #fresh: Array<{ readonly lifetime: Lifetime, readonly watcher: Watcher }> = []
  readonly #lasting = new Set<Lifetime>()
  #waiting: Array<() => void> = []
  #isStopped = false
  #uncounted = 0

  /** Counts the request until it ends. */
  watch (lifetime: Lifetime, watcher: Watcher): void {
    if (this.#fresh.push({ lifetime, watcher }) === 1) setImmediate(this.#moveToLasting)
  }

  /**
   * How many requests are being served, without open streams and those that wait for their turn. All requests
   * of this turn of the event loop count, ended ones too.
   */
  get pending (): number { return this.#lasting.size + this.#fresh.length - this.#uncounted }

  /** Marks a request whose answer is a stream: it does not count as pending. */
  markStream (lifetime: Lifetime): void {
    lifetime.onEnd(this.leaveOut())
  }

  /** Leaves a request out of `pending`. Returns what counts it again; call it once. */
  leaveOut (): () => void {
    this.#uncounted++
    return () => { this.#uncounted-- }
  }

  /** Stops every request that is being served, and every later one. */
  stopAll (): void {
    this.#isStopped = true
    this.#moveToLasting()
    for (const lifetime of this.#lasting) lifetime.stop(new ServiceClosing())
  }

  /** Resolves when no request is being served. */
  async settled (): Promise<void> {
    if (this.#lasting.size + this.#fresh.length > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  readonly #moveToLasting = (): void => {
    const requests = this.#fresh
    this.#fresh = []
    for (const { lifetime, watcher } of requests) {
      if (lifetime.isOver) continue
      this.#lasting.add(lifetime)
      lifetime.onEnd(() => this.#forget(lifetime))
      lifetime.startClock()
      watcher.onPending(lifetime)
      if (this.#isStopped) lifetime.stop(new ServiceClosing())
    }
    if (this.#lasting.size === 0) this.#resolveWaiting()
  }

  #forget (lifetime: Lifetime): void {
    this.#lasting.delete(lifetime)
    if (this.#lasting.size === 0 && this.#fresh.length === 0) this.#resolveWaiting()
  }

  #resolveWaiting (): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting = []
  }
}

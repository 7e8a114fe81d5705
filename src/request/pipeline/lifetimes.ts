// The requests that are being served now: to wait for them, and to stop them.

import { ServiceClosing, type Lifetime } from './lifetime.ts'

/** Told of a request that is not answered within the turn of the event loop in which it arrived. */
export interface Watcher { onPending (lifetime: Lifetime): void }

export interface Lifetimes {
  /** Counts the request until it ends. */
  watch (lifetime: Lifetime, watcher: Watcher): void
  /**
   * How many requests are being served, without open streams. The requests of this turn of the event loop
   * count, also those that have ended.
   */
  readonly pending: number
  /** Says that the answer is a stream, so that the request does not count as pending. */
  markStream (lifetime: Lifetime): void
  /** Stops every request that is being served, and every later one. */
  stopAll (): void
  /** Resolves when no request is being served. */
  settled (): Promise<void>
}

export function createLifetimes (): Lifetimes {
  // Requests of this turn of the event loop. One callback handles them all: most have ended when it runs.
  let fresh: Array<{ readonly lifetime: Lifetime, readonly watcher: Watcher }> = []
  const lasting = new Set<Lifetime>()
  let waiting: Array<() => void> = []
  let isStopped = false
  let streams = 0

  function moveToLasting (): void {
    const added = fresh
    fresh = []
    for (const { lifetime, watcher } of added) {
      if (lifetime.isOver) continue
      lasting.add(lifetime)
      lifetime.onEnd(() => forget(lifetime))
      lifetime.startClock()
      watcher.onPending(lifetime)
      if (isStopped) lifetime.stop(new ServiceClosing())
    }
    if (lasting.size === 0) resolveWaiting()
  }

  function forget (lifetime: Lifetime): void {
    lasting.delete(lifetime)
    if (lasting.size === 0 && fresh.length === 0) resolveWaiting()
  }

  function resolveWaiting (): void {
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    watch (lifetime, watcher) {
      if (fresh.push({ lifetime, watcher }) === 1) setImmediate(moveToLasting)
    },
    get pending () { return lasting.size + fresh.length - streams },
    markStream (lifetime) {
      streams++
      lifetime.onEnd(() => { streams-- })
    },
    stopAll () {
      isStopped = true
      moveToLasting()
      for (const lifetime of lasting) lifetime.stop(new ServiceClosing())
    },
    async settled () {
      if (lasting.size + fresh.length > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
}

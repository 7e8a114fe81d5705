// Those of one process who want the same thing take turns, so that they do not get in each other's way again and again.

import { setTimeout as pause } from 'node:timers/promises'

export interface Turns {
  /** Does the work when those who came before are done. A turn is a courtesy: whoever takes too long is not waited for. */
  take<T> (key: string, work: () => Promise<T>): Promise<T>
}

/** @param patienceMs how long the one before is waited for. 250 by default. */
export function createTurns (patienceMs = 250): Turns {
  const last = new Map<string, Promise<void>>()

  async function after<T> (before: Promise<void>, work: () => Promise<T>): Promise<T> {
    const impatience = new AbortController()
    await Promise.race([before, pause(patienceMs, undefined, { signal: impatience.signal }).catch(() => {})])
    impatience.abort()
    return await work()
  }

  return {
    take (key, work) {
      const before = last.get(key)
      const working = before === undefined ? work() : after(before, work)
      const leave = () => { if (last.get(key) === over) last.delete(key) }
      const over: Promise<void> = working.then(leave, leave)
      last.set(key, over)
      return working
    }
  }
}

// Those of one process who want the same thing take turns, so that they do not get in each other's way again and again.

import { setTimeout as pause } from 'node:timers/promises'

export interface Turns {
  /** Joins those who wait for what has this key. */
  take (key: string): Turn
}

/** A courtesy: whoever takes too long is not waited for. */
export interface Turn {
  /** Resolves when it has come. `undefined` where nobody came before. */
  readonly wait: Promise<void> | undefined
  /** Lets the next one in. */
  end (): void
}

/** @param patienceMs how long the one before is waited for. 250 by default. */
export function createTurns (patienceMs = 250): Turns {
  const last = new Map<string, TurnOf>()

  async function wait (before: Promise<void>): Promise<void> {
    const impatience = new AbortController()
    await Promise.race([before, pause(patienceMs, undefined, { signal: impatience.signal }).catch(() => {})])
    impatience.abort()
  }

  return {
    take (key) {
      const before = last.get(key)
      const turn = new TurnOf(key, last, before === undefined ? undefined : wait(before.ended))
      last.set(key, turn)
      return turn
    }
  }
}

class TurnOf implements Turn {
  readonly wait: Promise<void> | undefined
  readonly #key: string
  readonly #last: Map<string, TurnOf>
  #letIn: (() => void) | undefined

  constructor (key: string, last: Map<string, TurnOf>, wait: Promise<void> | undefined) {
    this.wait = wait
    this.#key = key
    this.#last = last
  }

  /** Asked for by whoever comes next: most are alone, and need no promise. */
  get ended (): Promise<void> {
    return new Promise((resolve) => { this.#letIn = resolve })
  }

  end (): void {
    if (this.#letIn === undefined) this.#last.delete(this.#key)
    else this.#letIn()
  }
}

// Those of one process who want the same thing take turns, so that they do not get in each other's way again
// and again.

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
  return {
    take (key) {
      const turn = new TurnOf(() => last.delete(key), last.get(key), patienceMs)
      last.set(key, turn)
      return turn
    }
  }
}

class TurnOf implements Turn {
  readonly wait: Promise<void> | undefined
  /** Lets the next one in, or leaves where there is none. */
  #pass: () => void

  constructor (leave: () => void, before: TurnOf | undefined, patienceMs: number) {
    this.#pass = leave
    if (before === undefined) return
    this.wait = new Promise((resolve) => {
      const timer = setTimeout(resolve, patienceMs)
      before.#pass = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  end (): void {
    this.#pass()
  }
}

// Orders the updates of the same record within one process, so that they do not conflict and retry.

import { timers } from './time.ts'

export interface KeyedQueue {
  /** Joins the queue of this key. */
  take (key: string): Turn
}

/** A place in a queue. It is no lock: after `patienceMs` the next turn starts without waiting. */
export interface Turn {
  /** Resolves when the turn starts. `undefined` if the queue was empty. */
  readonly wait: Promise<void> | undefined
  /** Starts the next turn. */
  end (): void
}

/** @param patienceMs how long a turn waits for the turn before it, in milliseconds. 250 by default. */
export function createKeyedQueue (patienceMs = 250): KeyedQueue {
  const last = new Map<string, QueuedTurn>()
  return {
    take (key) {
      const turn = new QueuedTurn(() => last.delete(key), last.get(key), patienceMs)
      last.set(key, turn)
      return turn
    }
  }
}

class QueuedTurn implements Turn {
  readonly wait: Promise<void> | undefined
  /** Starts the next turn, or removes the queue if there is no next turn. */
  #startNext: () => void

  constructor (removeQueue: () => void, before: QueuedTurn | undefined, patienceMs: number) {
    this.#startNext = removeQueue
    if (before === undefined) return
    this.wait = new Promise((resolve) => {
      const timer = timers.setTimeout(resolve, patienceMs)
      before.#startNext = () => {
        timers.clear(timer)
        resolve()
      }
    })
  }

  end (): void {
    this.#startNext()
  }
}

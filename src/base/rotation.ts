// Costly work that many callers ask for: a few pieces at a time, those of all callers in rotation.

/** Runs pieces of work. */
export interface Rotation {
  /** Runs the work in a later turn of the event loop, and settles as the work does. */
  run<T> (caller: string, work: () => Promise<T>): Promise<T>
}

/**
 * Each turn of the event loop begins one piece: requests are served between two, however many callers wait.
 * @param maxRunning how many pieces run at once: work may wait for a store.
 */
export function createRotation (maxRunning: number): Rotation {
  /** The pieces that wait. The caller whose turn is next comes first. */
  const waiting = new Map<string, Array<() => void>>()
  let [running, isScheduled] = [0, false]

  function schedule (): void {
    if (isScheduled || running >= maxRunning || waiting.size === 0) return
    isScheduled = true
    setImmediate(beginNext)
  }

  function beginNext (): void {
    isScheduled = false
    const [next] = waiting
    if (next === undefined) return
    const [caller, pieces] = next
    const begin = pieces.shift()
    waiting.delete(caller)
    if (pieces.length > 0) waiting.set(caller, pieces)
    running++
    begin?.()
    schedule()
  }

  return {
    async run (caller, work) {
      await new Promise<void>((resolve) => {
        const pieces = waiting.get(caller)
        if (pieces === undefined) waiting.set(caller, [resolve])
        else pieces.push(resolve)
        schedule()
      })
      try {
        return await work()
      } finally {
        running--
        schedule()
      }
    }
  }
}

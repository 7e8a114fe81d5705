// Runs code of a catalog for a limited time.

import { timers } from '../../../base/time.ts'

/**
 * Rejects when the code has not ended in time, or when `stop` aborts. The code is told by its signal; a code
 * that ignores the signal runs on.
 */
export async function runWithin<T> (
  limitMs: number, run: (signal: AbortSignal) => T | Promise<T>, stop?: AbortSignal
): Promise<T> {
  const limit = new AbortController()
  const signal = stop === undefined ? limit.signal : AbortSignal.any([limit.signal, stop])
  signal.throwIfAborted()
  const problem = `it did not end within ${limitMs / 1000} s; it may wait for something that never comes`
  const timer = timers.setTimeout(() => limit.abort(new Error(problem)), limitMs)
  let onAbort = () => {}
  try {
    return await new Promise<T>((resolve, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      const running = async () => await run(signal)
      running().then(resolve, reject)
    })
  } finally {
    timers.clear(timer)
    // Node keeps a composed signal in memory while it has a listener.
    signal.removeEventListener('abort', onAbort)
  }
}

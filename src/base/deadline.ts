// Limits how long somebody waits for a promise.

import { timers, type Timer } from './time.ts'

/**
 * Resolves or rejects as the promise does. If that takes longer than `ms`, rejects with the error of
 * `toError`. The work behind the promise is not cancelled.
 */
export async function withinDeadline<T> (
  promise: Promise<T>, ms: number, toError: () => Error
): Promise<T> {
  let timer: Timer | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = timers.setTimeout(() => reject(toError()), ms)
  })
  return await Promise.race([promise, late]).finally(() => timers.clear(timer))
}

/** Returns a signal that aborts after a time, with the error of `AbortSignal.timeout`. */
export function signalAfter (ms: number): AbortSignal {
  const controller = new AbortController()
  const error = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  timers.setTimeout(() => controller.abort(error()), ms).unref()
  return controller.signal
}

/** Resolves or rejects as the promise does. Rejects with the reason of the signal as soon as that aborts. */
export async function unlessAborted<T> (promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => { stop = () => reject(signal.reason) })
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

// Limits how long a caller waits for a promise, and how long code of others may run.

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
    // After the turn of the event loop that reads sockets: a busy process may have the answer already.
    timer = timers.setTimeout(() => { setImmediate(() => reject(toError())) }, ms)
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
export async function unlessAborted<T> (promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return await promise
  let stop = (): void => {}
  const aborted = new Promise<never>((_resolve, reject) => { stop = () => reject(signal.reason) })
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  // Node keeps a composed signal in memory while it has a listener.
  return await Promise.race([aborted, promise]).finally(() => signal.removeEventListener('abort', stop))
}

interface RunOptions {
  /** Ends the run too, with its reason. */
  readonly stop?: AbortSignal | undefined
  /** Makes the error of a run that took too long. */
  readonly toError?: () => Error
}

/**
 * Runs code whose signal aborts after `ms`, or when `stop` does. Then the run rejects, and code that ignores
 * its signal runs on.
 */
export async function runWithin<T> (
  ms: number, run: (signal: AbortSignal) => T | Promise<T>, { stop, toError = hungAfter(ms) }: RunOptions = {}
): Promise<T> {
  const limit = new AbortController()
  const signal = stop === undefined ? limit.signal : AbortSignal.any([limit.signal, stop])
  signal.throwIfAborted()
  const timer = timers.setTimeout(() => limit.abort(toError()), ms)
  const running = async () => await run(signal)
  return await unlessAborted(running(), signal).finally(() => timers.clear(timer))
}

const hungAfter = (ms: number) => () => (
  new Error(`it did not end within ${ms / 1000} s; it may wait for something that never comes`)
)

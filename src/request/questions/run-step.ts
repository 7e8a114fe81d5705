// Runs one step of a handler: again after an error, and each attempt within its time.

import type { StepOptions } from '../../author/context.ts'
import { isToolError } from '../../author/tool-error.ts'
import { random, timers } from '../../base/time.ts'
import { Suspended } from './input-round.ts'
import { InputRequired } from './round-state.ts'

const MAX_RETRIES = 100
const MAX_BACKOFF_MS = 60_000
/** A longer timer would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** An attempt took longer than the step allows. */
class StepTimeout extends Error {
  constructor (key: string, timeoutMs: number) {
    super(`step ${JSON.stringify(key)} was stopped after ${timeoutMs} ms`)
    this.name = 'TimeoutError'
  }
}

/** Throws a RangeError for options out of bounds. */
export function checkStepOptions ({ retries = 0, backoffMs = 0, timeoutMs = 1 }: StepOptions): void {
  checkNumber('step: retries', retries, 0, MAX_RETRIES)
  checkNumber('step: backoffMs', backoffMs, 0, MAX_BACKOFF_MS)
  checkNumber('step: timeoutMs', timeoutMs, 1, MAX_TIMER_MS)
}

export function checkNumber (what: string, value: number, min: number, max: number): void {
  if (typeof value === 'number' && value >= min && value <= max) return
  throw new RangeError(`${what} must be a number from ${min} to ${max}, got ${String(value)}`)
}

export async function runStep<T> (
  key: string, { retries = 0, backoffMs = 1000, timeoutMs }: StepOptions, signal: AbortSignal,
  fn: (signal: AbortSignal) => T | Promise<T>
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return timeoutMs === undefined ? await fn(signal) : await runTimed(key, timeoutMs, signal, fn)
    } catch (error) {
      if (attempt > retries || signal.aborted || !mayRetry(error)) throw error
    }
    const longest = Math.min(MAX_BACKOFF_MS, backoffMs * 2 ** (attempt - 1))
    await timers.pause(longest * (1 - random.number() / 2), { signal })
  }
}

/** Rejects after the time, also if `fn` ignores its signal. */
async function runTimed<T> (
  key: string, timeoutMs: number, signal: AbortSignal, fn: (signal: AbortSignal) => T | Promise<T>
): Promise<T> {
  const attempt = new AbortController()
  const stop = () => attempt.abort(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  const timer = timers.setTimeout(() => attempt.abort(new StepTimeout(key, timeoutMs)), timeoutMs)
  try {
    return await new Promise<T>((resolve, reject) => {
      attempt.signal.addEventListener('abort', () => reject(attempt.signal.reason), { once: true })
      Promise.resolve(fn(attempt.signal)).then(resolve, reject)
    })
  } finally {
    timers.clear(timer)
    signal.removeEventListener('abort', stop)
  }
}

function mayRetry (error: unknown): boolean {
  return !(isToolError(error) || error instanceof InputRequired || error instanceof Suspended)
}

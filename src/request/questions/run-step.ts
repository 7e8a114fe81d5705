// Runs a step of a handler. Repeats it after an error, and limits the time of each attempt.

import type { StepOptions } from '../../platform/author/context.ts'
import { isToolError } from '../../platform/author/tool-error.ts'
import { runWithin } from '../../base/deadline.ts'
import { retry } from '../../base/retry.ts'
import { MAX_TIMER_MS } from '../../base/time.ts'
import { Suspended } from './input-round.ts'
import { InputRequired } from './round-state.ts'

const MAX_RETRIES = 100
const MAX_BACKOFF_MS = 60_000

/** An attempt took longer than the step allows. */
class StepTimeout extends Error {
  override readonly name = 'TimeoutError'
  constructor (key: string, timeoutMs: number) {
    super(`step ${JSON.stringify(key)} was stopped after ${timeoutMs} ms`)
  }
}

/** Throws a RangeError for options out of bounds. */
export function checkStepOptions ({ retries = 0, backoffMs = 0, timeoutMs = 1 }: StepOptions): void {
  checkNumber('step: retries', retries, 0, MAX_RETRIES)
  checkNumber('step: backoffMs', backoffMs, 0, MAX_BACKOFF_MS)
  checkNumber('step: timeoutMs', timeoutMs, 1, MAX_TIMER_MS)
}

/** Throws a TypeError for a key that cannot name a sleep. Sleeps without a key have numbers. */
export function checkSleepKey (key: unknown): void {
  if (key === undefined || (typeof key === 'string' && key !== '' && !/^\d+$/.test(key))) return
  throw new TypeError(`sleep: the key must be a text that is neither empty nor a number, got ${String(key)}`)
}

export function checkNumber (subject: string, value: number, min: number, max: number): void {
  if (typeof value === 'number' && value >= min && value <= max) return
  throw new RangeError(`${subject} must be a number from ${min} to ${max}, got ${String(value)}`)
}

interface RetriedStep extends StepOptions {
  /** Whether a store or an upstream was away: such an error is tried again, also if it is for the model. */
  isOutage (error: unknown): boolean
}

export async function runStep<T> (
  key: string, { retries = 0, backoffMs = 1000, timeoutMs, isOutage }: RetriedStep, signal: AbortSignal,
  fn: (signal: AbortSignal) => T | Promise<T>
): Promise<T> {
  return await retry(
    async () => {
      if (timeoutMs === undefined) return await fn(signal)
      const toError = () => new StepTimeout(key, timeoutMs)
      return await runWithin(timeoutMs, fn, { stop: signal, toError })
    },
    {
      firstMs: backoffMs,
      maxMs: MAX_BACKOFF_MS,
      attempts: Math.floor(retries) + 1,
      mayRetry: (error) => !signal.aborted && (isOutage(error) || mayRetry(error)),
      signal
    }
  )
}

function mayRetry (error: unknown): boolean {
  return !(isToolError(error) || error instanceof InputRequired || error instanceof Suspended)
}

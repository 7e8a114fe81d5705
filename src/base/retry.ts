// Tries again what failed, after pauses that grow, and reads when a server wants to be asked again.

import { clock, random, timers } from './time.ts'

interface Pauses {
  /** The longest first pause, in milliseconds. It doubles with each attempt. */
  readonly firstMs: number
  /** The longest pause, in milliseconds. */
  readonly maxMs: number
}

interface RetryOptions extends Pauses {
  /** How often the work is done at most. Without an end by default. */
  readonly attempts?: number
  /** Whether another attempt may succeed. True by default. */
  readonly mayRetry?: (error: unknown) => boolean
  /** Ends the pauses, and rejects with its reason. */
  readonly signal?: AbortSignal
  /** Whether a pause keeps the process alive. True by default. */
  readonly ref?: boolean
}

/**
 * Returns a random pause in milliseconds, so that the attempts of several writers do not meet again.
 *
 * @param attempt from 0.
 */
export function pauseAfter (attempt: number, pauses: Pauses): number {
  return longestAfter(attempt, pauses) * (1 - random.number() / 2)
}

function longestAfter (attempt: number, { firstMs, maxMs }: Pauses): number {
  return Math.min(maxMs, firstMs * 2 ** attempt)
}

/** Does the work until it succeeds. Rejects with the last error if no further attempt may be made. */
export async function retry<T> (work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts = Infinity, mayRetry = () => true, signal, ref = true } = options
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (attempt + 1 >= attempts || !mayRetry(error)) throw error
    }
    await timers.pause(pauseAfter(attempt, options), { ref, ...signal && { signal } })
  }
}

/** Does the work until it succeeds, for a time in milliseconds. Rejects as `retry` does. */
export async function retryFor<T> (
  ms: number, work: () => Promise<T>, { mayRetry = () => true, ...options }: RetryOptions
): Promise<T> {
  const endsAt = clock.monotonic() + ms
  return await retry(work, { ...options, mayRetry: (error) => clock.monotonic() < endsAt && mayRetry(error) })
}

/** The pauses between the attempts of writers whose updates of one record conflict. */
const CONFLICT = { firstMs: 2, maxMs: 100 }

/**
 * Waits before an update is tried again after a conflict. The pause may have any length up to the longest, so
 * that many writers spread over all of it. Rejects when the signal aborts.
 */
export async function pauseBefore (attempt: number, signal: AbortSignal): Promise<void> {
  await timers.pause(random.number() * longestAfter(attempt, CONFLICT), { signal })
}

/** A date of HTTP. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the time to wait that `Retry-After` says, in milliseconds. `undefined` without a valid value. RFC
 * 9110, section 10.2.3.
 */
export function readRetryAfter (value: string | undefined): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  return DATE.test(text) ? Math.max(0, Date.parse(text) - clock.now()) : undefined
}

// How a start waits for a store that is away, at any of its moments.

import { retryFor } from '../../../base/retry.ts'
import { StoreUnavailable } from './state-store.ts'

/** In milliseconds. */
export const START_WAIT_MS = 5000
/** The pauses between two attempts. */
export const START_RETRY = { firstMs: 100, maxMs: 500 }

/** Does the work until the store is there. Rejects with its last error, or when the signal aborts. */
export async function untilAvailable<T> (work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const mayRetry = (error: unknown) => error instanceof StoreUnavailable && signal?.aborted !== true
  return await retryFor(START_WAIT_MS, work, { ...START_RETRY, mayRetry, ...signal && { signal } })
}

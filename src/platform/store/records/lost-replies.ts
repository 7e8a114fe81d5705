// Work whose reply may be lost: it is tried again, and a writer knows its own write by a mark.

import { retry } from '../../../base/retry.ts'
import { clock, random } from '../../../base/time.ts'
import { StoreUnavailable } from './state-store.ts'

export interface OutageOptions {
  /** The longest first pause, in milliseconds. It doubles with each attempt. */
  readonly firstMs: number
  /** The longest pause, in milliseconds. */
  readonly maxMs: number
  /** A failure after this time is final, in milliseconds. Without an end by default. */
  readonly forMs?: number
  /** Whether another attempt may begin. True by default. */
  readonly mayGoOn?: () => boolean
}

/** A mark need not be secret: two writes of one record must not have the same by chance. */
const MARK_BYTES = 9

/** Repeats the work while the store is away. Rejects with the last error. */
export async function retryOutage<T> (
  work: () => Promise<T>, { forMs = Infinity, mayGoOn = () => true, ...pauses }: OutageOptions
): Promise<T> {
  const startedAt = clock.monotonic()
  return await retry(work, {
    ...pauses,
    mayRetry: (error) => (
      error instanceof StoreUnavailable && mayGoOn() && clock.monotonic() - startedAt < forMs
    )
  })
}

/** Returns a random text that names one write. */
export function newMark (): string { return random.name(MARK_BYTES) }

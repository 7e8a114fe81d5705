// Whether the state store takes writes now, for readiness and metrics.

import { withinDeadline } from '../base/deadline.ts'
import { createOutageLog } from '../base/outage-log.ts'
import { singleFlight } from '../base/single-flight.ts'
import { clock } from '../base/time.ts'
import { toError } from '../base/words.ts'
import { StoreUnavailable, type StateStore } from '../platform/store/records/state-store.ts'

/** Anybody may ask for readiness, as often as they like. The store is asked once in this time. */
const FRESH_MS = 1000
/** Shorter than the time that platforms give to a probe. The check may run on: later askers share it. */
const ANSWER_MS = 2000

interface StoreCheckOptions {
  readonly log: { warn (fields: object, message: string): void }
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/** Returns a function that rejects with the reason while the store takes no writes. */
export function createStoreCheck (
  store: Pick<StateStore, 'check'>, { log, now = clock.monotonic }: StoreCheckOptions
): () => Promise<void> {
  const report = createOutageLog({ log, message: 'not ready: the state store takes no writes', now })
  let freshUntil = -Infinity
  let problem: Error | undefined

  const find = singleFlight(async () => {
    problem = await store.check().then(() => undefined, toCause)
    freshUntil = now() + FRESH_MS
    return problem
  })

  return async () => {
    const current = now() < freshUntil
      ? problem
      : await withinDeadline(find(), ANSWER_MS, toLateError).catch(toError)
    if (current === undefined) return
    report(current)
    throw current
  }
}

const toLateError = () => new Error(`it has neither taken nor refused a write within ${ANSWER_MS} ms`)

/** StoreUnavailable is for callers, and has no reason. */
function toCause (error: unknown): Error {
  return toError(error instanceof StoreUnavailable ? error.cause : error)
}

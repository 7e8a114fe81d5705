// Why a run of a task ends without an outcome.

import { random } from '../../../base/time.ts'
import { TaskNotReadable, type ProtocolError } from '../../../platform/protocol/errors.ts'
import { RequestCancelled } from '../../../request/pipeline/lifetime.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'
import type { Deferral } from '../machine/events.ts'
import type { TaskRecord } from '../records/record.ts'

/** The task was cancelled, has expired, or runs on another replica. Its run here has no outcome. */
export class TaskLost extends RequestCancelled {
  constructor () {
    super()
    this.message = 'The task does not run on this replica any more'
  }
}

/** A limit refuses the run for now, or the catalog here lacks the tool. The task runs later. */
export class TaskDeferred extends RequestCancelled {}

/**
 * Returns when a task is due again that is left to other replicas. The time is random, so that another one
 * takes it.
 */
export function pauseForOthers (leaseMs: number): number { return leaseMs * (1 + random.number()) / 4 }

/** Returns when a task is due again: without a time, when another replica has had the time to take it. */
export function deferralAfter (retryAfterSeconds: number | undefined, leaseMs: number): Deferral {
  if (retryAfterSeconds === undefined) return { inMs: pauseForOthers(leaseMs) }
  return { inMs: retryAfterSeconds * 1000, pause: 'limit' }
}

/** Ignores a record that a newer release has written: it has begun the next run. Rethrows other errors. */
export function ignoreNotReadable (error: unknown): undefined {
  if (!(error instanceof TaskNotReadable)) throw error
}

/** How long after an outage of the store the handler runs again at the latest, in milliseconds. */
const OUTAGE_MS = 5000

/** `undefined` if the error is the outcome: no outage of the store, or the handler must not run again. */
export function findOutageDeferral (
  { cause }: ProtocolError, { mayRerun, undo }: Pick<TaskRecord, 'mayRerun' | 'undo'>
): Deferral | undefined {
  if (!(cause instanceof StoreUnavailable) || (!mayRerun && undo !== 'due')) return undefined
  return { inMs: OUTAGE_MS * (1 - random.number() / 2), pause: 'outage' }
}

// The end of a task that has lost its replica too often, and the faults of a storm that explain it.

import type { Message } from '../helpers/request.ts'
import { taskPoisoned } from '../../src/platform/protocol/errors.ts'
import { LOSS_PAUSES_MS, MAX_LOSSES } from '../../src/features/tasks/machine/transition-row.ts'

/** A task that has failed. Its times are those of `performance.now()`. */
export interface Failure {
  readonly task: Message
  /** Its last question was open before that, or it has begun then. */
  readonly runsSince: number
  readonly endedAt: number
}

/**
 * Finds the failures that are not the end after losses in a row, and those after fewer losses than it takes.
 * @param faults when there was one that may lose a replica, in order.
 */
export function findUnexplained (
  failures: readonly Failure[], faults: readonly number[]
): ReadonlyArray<Failure & { readonly losses: number }> {
  const { message } = taskPoisoned(MAX_LOSSES)
  return failures
    .map((failure) => ({ ...failure, losses: countLosses(failure, faults) }))
    .filter(({ task, losses }) => task.error?.message !== message || losses < MAX_LOSSES)
}

/** Counts the losses that the task can have had: after each of them, its next run begins after a pause. */
function countLosses ({ runsSince, endedAt }: Failure, faults: readonly number[]): number {
  let losses = 0
  let from = runsSince
  for (const at of faults) {
    if (at < from || at > endedAt) continue
    from = at + (LOSS_PAUSES_MS[losses] ?? 0)
    losses++
  }
  return losses
}

// LMDB waits for the disk and for other processes without a limit. These deadlines limit the wait of callers.

import { withinDeadline } from '../../../base/deadline.ts'

/** Rejects if the promise is not settled within the deadline. */
export async function inTime<T> (promise: Promise<T>, deadlineMs: number): Promise<T> {
  return await withinDeadline(
    promise, deadlineMs, () => new Error(`neither written nor refused within ${deadlineMs} ms`)
  )
}

/**
 * The reason of a failed commit is in a second promise, `commitError`. It rejects, and ends Node if nobody
 * handles it.
 */
export async function toCommitCause (error: unknown, deadlineMs: number): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  const reason = inTime(Promise.resolve(error.commitError), deadlineMs)
  return await reason.then(() => error, (cause: unknown) => cause)
}

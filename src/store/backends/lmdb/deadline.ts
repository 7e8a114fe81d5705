// LMDB waits for the disk and for other processes without a limit. These deadlines limit the wait of callers.

/** Rejects if the promise is not settled within the deadline. */
export async function inTime<T> (promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const rejectLate = () => reject(new Error(`neither written nor refused within ${deadlineMs} ms`))
    timer = setTimeout(rejectLate, deadlineMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
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

// LMDB waits for the disk and for other processes without a limit. Its callers wait no longer than a
// deadline.

/** Rejects where the promise has not settled in time. */
export async function inTime<T> (promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new Error(`neither written nor refused within ${deadlineMs} ms`))
    timer = setTimeout(giveUp, deadlineMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The reason of a failed commit is in a promise of its own, which rejects. Unhandled, it would end Node. */
export async function toCommitCause (error: unknown, deadlineMs: number): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  const reason = inTime(Promise.resolve(error.commitError), deadlineMs)
  return await reason.then(() => error, (cause: unknown) => cause)
}

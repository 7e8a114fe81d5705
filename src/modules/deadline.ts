// How long a module may take to load.

export function lateError (deadlineMs: number): Error {
  return new Error(
    `is not loaded within ${deadlineMs / 1000} s; a top-level await may wait for something that never comes`
  )
}

/** Rejects where the promise takes longer. What it waits for goes on. */
export async function withinDeadline<T> (promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(lateError(deadlineMs)), deadlineMs)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// The deadline for loading a module.

export function lateError (deadlineMs: number): Error {
  const problem = `is not loaded within ${deadlineMs / 1000} s`
  return new Error(`${problem}; a top-level await may wait for something that never comes`)
}

/** Rejects when the promise is not settled within the deadline. Its work is not cancelled. */
export async function withinDeadline<T> (promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(lateError(deadlineMs)), deadlineMs)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

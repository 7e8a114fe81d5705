// Errors without a stack. V8 walks the stack for each error, which takes a sixth of the CPU of a refused call
// (Node 20 and 24).

export class StacklessError extends Error {
  /** @param hasStack whether it has a stack all the same. */
  constructor (message: string, options?: ErrorOptions, hasStack = false) {
    const restore = hasStack ? undefined : leaveStacksOut()
    try {
      super(message, options)
    } finally {
      restore?.()
    }
  }
}

/** New errors have no stack until the returned function is called. */
export function leaveStacksOut (): () => void {
  const { stackTraceLimit } = Error
  // A program may have made the limit constant.
  const isChanged = Reflect.set(Error, 'stackTraceLimit', 0)
  return () => { if (isChanged) Error.stackTraceLimit = stackTraceLimit }
}

// An error without a stack. V8 walks the stack for each error, which takes a sixth of the CPU of a refused
// call (Node 20 and 24).

export class StacklessError extends Error {
  /** @param hasStack whether it has a stack all the same. */
  constructor (message: string, options: ErrorOptions, hasStack: boolean) {
    const { stackTraceLimit } = Error
    // A program may have made the limit constant.
    const isChanged = !hasStack && Reflect.set(Error, 'stackTraceLimit', 0)
    try {
      super(message, options)
    } finally {
      if (isChanged) Error.stackTraceLimit = stackTraceLimit
    }
  }
}

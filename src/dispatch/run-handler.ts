// Runs a catalog's code for a request, for as long as the request lives and no longer than it may.

import type { RequestContext } from './request-context.ts'

/** The handler took longer than it may. Its signal has aborted. */
export class HandlerTimeout extends Error {
  readonly timeoutMs: number

  constructor (timeoutMs: number) {
    super(`stopped after ${timeoutMs} ms`)
    this.name = 'TimeoutError'
    this.timeoutMs = timeoutMs
  }
}

/** The client is gone, or the service is going down. */
export class RequestAborted extends Error {
  constructor (message: string) {
    super(message)
    this.name = 'AbortError'
  }
}

/** Resolves to what the handler returns; rejects with why it was given up on, even where it does not heed its signal. */
export function runHandler<T> (context: RequestContext, timeoutMs: number, run: () => T | Promise<T>): T | Promise<T> {
  const output = run()
  if (!isThenable(output)) return output
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => context.stop(new HandlerTimeout(timeoutMs)), timeoutMs)
    context.onAbort = (reason) => {
      clearTimeout(timer)
      reject(reason)
    }
    if (context.isAborted) context.onAbort(new RequestAborted('The request has ended'))
    Promise.resolve(output).then((value) => {
      clearTimeout(timer)
      resolve(value)
    }, (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    })
  })
}

// Query builders and the like are not promises, but are meant to be awaited.
function isThenable<T> (value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

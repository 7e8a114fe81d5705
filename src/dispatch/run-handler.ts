// Runs a catalog's code for a request, for as long as the request lives and no longer than it may.

import { RequestAborted } from './endings.ts'
import type { RequestContext } from './request-context.ts'

/** Resolves to what the handler returns; rejects with why it was given up on, even where it does not heed its signal. */
export function runHandler<T> (context: RequestContext, timeoutMs: number, run: () => T | Promise<T>): T | Promise<T> {
  const output = run()
  if (!isThenable(output)) return output
  return new Promise((resolve, reject) => {
    context.onAbort = reject
    context.limit(timeoutMs)
    if (context.isAborted) reject(new RequestAborted('The request has ended'))
    Promise.resolve(output).then(resolve, reject)
  })
}

// Query builders and the like are not promises, but are meant to be awaited.
function isThenable<T> (value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

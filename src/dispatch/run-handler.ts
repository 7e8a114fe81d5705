// Runs a catalog's code for a request, for as long as the request lives and no longer than it may.

import type { Lifetime } from './lifetime.ts'

/**
 * Resolves to what the handler returns; rejects when the request is stopped, even where the handler does not
 * heed its signal.
 */
export function runHandler<T> (
  lifetime: Lifetime, timeoutMs: number, run: () => T | Promise<T>
): T | Promise<T> {
  const output = run()
  if (!isThenable(output)) return output
  return new Promise((resolve, reject) => {
    lifetime.onStop(reject)
    lifetime.limit(timeoutMs)
    Promise.resolve(output).then(resolve, reject)
  })
}

// Query builders and the like are not promises, but are meant to be awaited.
function isThenable<T> (value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

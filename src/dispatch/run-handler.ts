// Runs a handler of the catalog within the lifetime of its request.

import type { Lifetime } from './lifetime.ts'

/**
 * Returns or resolves to the output of the handler. Rejects when the request is stopped, also if the handler
 * ignores its signal and continues.
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

// Not `instanceof Promise`: the query builders of some libraries are thenables, and must be awaited.
function isThenable<T> (value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

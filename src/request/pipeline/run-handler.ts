// Runs a handler of the catalog within the lifetime of its request.

import type { RequestContext } from './request-context.ts'

/**
 * Returns or resolves to the output of the handler. Rejects when the request is stopped, also if the handler
 * ignores its signal and continues.
 */
export function runHandler<T> (
  { lifetime, observed }: Pick<RequestContext, 'lifetime' | 'observed'>, timeoutMs: number,
  run: () => T | Promise<T>
): T | Promise<T> {
  const { trace } = observed
  const output = trace === undefined ? run() : trace.runHandler(observed, run)
  if (!isThenable(output)) return output
  return new Promise((resolve, reject) => {
    lifetime.onStop(reject)
    lifetime.limit(timeoutMs)
    Promise.resolve(output).then(resolve, reject)
  })
}

// Not `instanceof Promise`: the query builders of some libraries are thenables, and must be awaited.
export function isThenable<T> (value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

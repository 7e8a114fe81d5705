// Finds functions of a definition that every call would fail for.

import { isGeneratorFunction } from 'node:util/types'

type HandlerProblem = readonly [place: string, rule: string]

/** @param handlers the functions of the definition, by their place. */
export function findHandlerProblems (handlers: { readonly [place: string]: unknown }): HandlerProblem[] {
  return Object.entries(handlers).flatMap(([place, handler]): HandlerProblem[] => {
    if (typeof handler !== 'function') return [[place, 'must be a function']]
    if (!isGeneratorFunction(handler)) return []
    return [[place, 'must not be a generator function; collect the parts, and return them']]
  })
}

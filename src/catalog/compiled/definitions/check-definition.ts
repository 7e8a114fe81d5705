// Checks of definitions of every kind: their shapes, and functions that every call would fail for.

import { isGeneratorFunction } from 'node:util/types'
import type { JsonSchemaCheck } from '../../../schema/json-schema.ts'
import type { ReportProblem } from '../problem.ts'

/** Whether a definition has its shape. Every problem has been reported. */
export function hasShape (shape: JsonSchemaCheck, definition: object, report: ReportProblem): boolean {
  const verdict = shape(definition)
  if (!verdict.ok) for (const problem of verdict.problems) report('', problem)
  return verdict.ok
}

/** Whether all functions of a definition can be called. Every problem has been reported. */
export function hasHandlers (
  handlers: { readonly [place: string]: unknown }, report: ReportProblem
): boolean {
  const problems = findHandlerProblems(handlers)
  for (const [place, rule] of problems) report(place, rule)
  return problems.length === 0
}

type HandlerProblem = readonly [place: string, rule: string]

/** @param handlers the functions of the definition, by their place. */
export function findHandlerProblems (handlers: { readonly [place: string]: unknown }): HandlerProblem[] {
  return Object.entries(handlers).flatMap(([place, handler]): HandlerProblem[] => {
    if (typeof handler !== 'function') return [[place, 'must be a function']]
    if (!isGeneratorFunction(handler)) return []
    return [[place, 'must not be a generator function; collect the parts, and return them']]
  })
}

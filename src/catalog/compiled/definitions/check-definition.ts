// Checks of definitions of every kind: their shapes, and functions that every call would fail for.

import { isGeneratorFunction } from 'node:util/types'
import type { JsonSchemaCheck } from '../../../platform/schema/json-schema.ts'
import type { ReportProblem } from '../problem.ts'

/**
 * Whether a definition has its shape, and `findMore` finds no problem of it. Every problem has been reported.
 * @param findMore called for a definition that has its shape.
 */
export function hasShape<D> (
  shape: JsonSchemaCheck, definition: D, report: ReportProblem,
  findMore: (definition: D) => readonly string[] = () => []
): boolean {
  const verdict = shape(definition)
  const problems = verdict.ok ? findMore(definition) : verdict.problems
  for (const problem of problems) report('', problem)
  return problems.length === 0
}

/** Whether the functions of a definition that are there can be called. Every problem has been reported. */
export function hasHandlers (
  handlers: { readonly [place: string]: unknown }, report: ReportProblem
): boolean {
  const problems = Object.entries(handlers).flatMap(([place, handler]) => {
    const rule = handler === undefined ? undefined : findHandlerProblem(handler)
    return rule === undefined ? [] : [{ place, rule }]
  })
  for (const { place, rule } of problems) report(place, rule)
  return problems.length === 0
}

/** Finds why a value cannot be called as a function of a definition. */
export function findHandlerProblem (handler: unknown): string | undefined {
  if (typeof handler !== 'function') return 'must be a function'
  return isGeneratorFunction(handler)
    ? 'must not be a generator function; collect the parts, and return them'
    : undefined
}

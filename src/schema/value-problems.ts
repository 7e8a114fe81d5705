// Describes the problems of a value for a person or a model: which argument, what was expected, what came.

import type { ErrorObject } from 'ajv'
import { MAX_PROBLEMS } from './check.ts'

const MAX_PREVIEW = 80
const MAX_EXPECTED = 400

/** One sentence for each problem, at most eight. */
export function describeProblems (errors: readonly ErrorObject[], value: unknown): string[] {
  const problems = new Set<string>()
  for (const error of errors) {
    // An `if` reports that one of its branches failed. The branch reports the reason itself.
    if (error.keyword === 'if') continue
    problems.add(describeProblem(error, value))
    if (problems.size === MAX_PROBLEMS) break
  }
  return [...problems]
}

function describeProblem (error: ErrorObject, value: unknown): string {
  const path = pathOfPointer(error.instancePath)
  const place = path || 'value'
  const came = preview(valueAt(value, error.instancePath))
  const member = (name: unknown) => path === '' ? String(name) : `${path}.${String(name)}`
  const { params } = error
  switch (error.keyword) {
    case 'required': return `${member(params.missingProperty)}: is required, but missing`
    case 'additionalProperties': return `${member(params.additionalProperty)}: is not known here; remove it`
    case 'unevaluatedProperties': return `${member(params.unevaluatedProperty)}: is not known here; remove it`
    case 'type': return `${place}: must be ${[params.type].flat().join(' or ')}, got ${came}`
    case 'enum': return `${place}: must be one of ${toExpected(params.allowedValues)}, got ${came}`
    case 'const': return `${place}: must be ${toExpected(params.allowedValue)}, got ${came}`
    default: return `${place}: ${error.message ?? 'is invalid'}, got ${came}`
  }
}

function toExpected (value: unknown): string {
  return truncate(JSON.stringify(value), MAX_EXPECTED)
}

function segmentsOf (pointer: string): string[] {
  if (pointer === '') return []
  return pointer.slice(1).split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** A JSON pointer as a path: `/list/1/name` is `list[1].name`. */
function pathOfPointer (pointer: string): string {
  return segmentsOf(pointer).reduce((path, segment) => {
    if (/^\d+$/.test(segment)) return `${path}[${segment}]`
    return path === '' ? segment : `${path}.${segment}`
  }, '')
}

function valueAt (value: unknown, pointer: string): unknown {
  return segmentsOf(pointer).reduce<unknown>((at, segment) => {
    return typeof at === 'object' && at !== null ? Reflect.get(at, segment) : undefined
  }, value)
}

/** A value as JSON of at most 80 characters. */
export function preview (value: unknown): string {
  return value === undefined ? 'nothing' : truncate(describeValue(value), MAX_PREVIEW)
}

/** A value as JSON. A value that is not JSON, such as a function or a cycle, is described by its type. */
export function describeValue (value: unknown): string {
  try {
    return JSON.stringify(value) ?? `a value of type ${typeof value}`
  } catch (error) {
    if (error instanceof TypeError) return `a value of type ${typeof value} that is not JSON`
    throw error
  }
}

function truncate (text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
}

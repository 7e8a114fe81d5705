// What is wrong with a value, in words for a person or a model: which argument, what was expected, what came.

import type { ErrorObject } from 'ajv'

const MAX_PROBLEMS = 8
const MAX_PREVIEW = 80

/** One sentence per failure, at most eight. */
export function describeProblems (errors: readonly ErrorObject[], value: unknown): string[] {
  const problems = new Set<string>()
  for (const error of errors) {
    // Says only that one of its branches failed; the branches' own errors say why.
    if (error.keyword === 'if') continue
    problems.add(describeProblem(error, value))
    if (problems.size === MAX_PROBLEMS) break
  }
  return [...problems]
}

function describeProblem (error: ErrorObject, value: unknown): string {
  const path = pathOfPointer(error.instancePath)
  const came = preview(valueAt(value, error.instancePath))
  const at = (name: unknown) => path === '' ? String(name) : `${path}.${String(name)}`
  const { params } = error
  switch (error.keyword) {
    case 'required': return `${at(params.missingProperty)}: is required, but missing`
    case 'additionalProperties': return `${at(params.additionalProperty)}: is not known here; remove it`
    case 'unevaluatedProperties': return `${at(params.unevaluatedProperty)}: is not known here; remove it`
    case 'type': return `${path || 'value'}: must be ${[params.type].flat().join(' or ')}, got ${came}`
    case 'enum': return `${path || 'value'}: must be one of ${truncate(JSON.stringify(params.allowedValues), 400)}, got ${came}`
    case 'const': return `${path || 'value'}: must be ${truncate(JSON.stringify(params.allowedValue), 400)}, got ${came}`
    default: return `${path || 'value'}: ${error.message ?? 'is invalid'}, got ${came}`
  }
}

function segmentsOf (pointer: string): string[] {
  return pointer === '' ? [] : pointer.slice(1).split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function pathOfPointer (pointer: string): string {
  return segmentsOf(pointer).reduce((path, segment) => /^\d+$/.test(segment) ? `${path}[${segment}]` : path === '' ? segment : `${path}.${segment}`, '')
}

function valueAt (value: unknown, pointer: string): unknown {
  return segmentsOf(pointer).reduce<unknown>((at, segment) => typeof at === 'object' && at !== null ? Reflect.get(at, segment) : undefined, value)
}

/** A value as JSON, short enough to read. */
export function preview (value: unknown): string {
  return value === undefined ? 'nothing' : truncate(describeValue(value), MAX_PREVIEW)
}

/** A value as JSON, or by its type where it has no such form: a function, a cycle. */
export function describeValue (value: unknown): string {
  try {
    return JSON.stringify(value) ?? `a value of type ${typeof value}`
  } catch (error) {
    if (error instanceof TypeError) return `a value of type ${typeof value} that is not JSON`
    throw error
  }
}

function truncate (text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`
}

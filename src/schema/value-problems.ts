// Describes the problems of a value for a person or a model: which argument, what was expected, what came.

import type { ErrorObject } from 'ajv'
import { clip } from '../base/words.ts'
import { MAX_PROBLEMS } from './check.ts'
import { preview, typeOf } from './value-preview.ts'

const MAX_EXPECTED = 400
/** The names of members are the client's, and may be long. */
const MAX_SENTENCE = 1000

/**
 * Writes one sentence for each problem, at most eight.
 * @param showsValues whether the sentences may quote the value. Those that are logged may not.
 */
export function describeProblems (
  errors: readonly ErrorObject[], value: unknown, showsValues: boolean
): string[] {
  const problems = new Set<string>()
  const previews = new Map<string, string>()
  // Several problems may be about the same value, and the value may be large.
  const previewAt = (pointer: string) => {
    const text = previews.get(pointer) ?? (showsValues ? preview : typeOf)(valueAt(value, pointer))
    previews.set(pointer, text)
    return text
  }
  for (const error of errors) {
    // An `if` reports that one of its branches failed. The branch reports the reason itself.
    if (error.keyword === 'if') continue
    problems.add(clip(describeProblem(showsValues ? error : withoutName(error), previewAt), MAX_SENTENCE))
    if (problems.size === MAX_PROBLEMS) break
  }
  return [...problems]
}

/** Hides the name of an unknown member, which is a part of the value. */
function withoutName (error: ErrorObject): ErrorObject {
  const name = '(a member)'
  return { ...error, params: { ...error.params, additionalProperty: name, unevaluatedProperty: name } }
}

function describeProblem (error: ErrorObject, previewAt: (pointer: string) => string): string {
  const path = pathOfPointer(error.instancePath)
  const place = path || 'value'
  const came = () => previewAt(error.instancePath)
  const member = (name: unknown) => path === '' ? String(name) : `${path}.${String(name)}`
  const { params } = error
  switch (error.keyword) {
    case 'required': return `${member(params.missingProperty)}: is required, but missing`
    case 'dependentRequired': return `${member(params.property)}: needs ${String(params.missingProperty)}`
    case 'additionalProperties': return `${member(params.additionalProperty)}: is not known here; remove it`
    case 'unevaluatedProperties': return `${member(params.unevaluatedProperty)}: is not known here; remove it`
    case 'type': return `${place}: must be ${[params.type].flat().join(' or ')}, got ${came()}`
    case 'enum': return `${place}: must be one of ${toExpected(params.allowedValues)}, got ${came()}`
    case 'const': return `${place}: must be ${toExpected(params.allowedValue)}, got ${came()}`
    default: return `${place}: ${error.message ?? 'is invalid'}, got ${came()}`
  }
}

function toExpected (value: unknown): string {
  return clip(JSON.stringify(value), MAX_EXPECTED)
}

function segmentsOf (pointer: string): string[] {
  if (pointer === '') return []
  return pointer.slice(1).split('/').map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Writes a JSON pointer as a path: `/list/1/name` is `list[1].name`. */
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

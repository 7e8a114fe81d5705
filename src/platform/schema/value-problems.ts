// Describes the problems of a value for a person or a model: which argument, what was expected, what came.

import type { ErrorObject } from 'ajv'
import { createNearestNames } from '../../base/nearest-names.ts'
import { clip } from '../../base/words.ts'
import { MAX_PROBLEMS } from './check.ts'
import { preview, typeOf } from './value-preview.ts'

const MAX_EXPECTED = 400
/** The names of members are the client's, and may be long. */
const MAX_SENTENCE = 1000
/** Comparing a name with more members than this costs more than the advice is worth: a client chooses it. */
const MAX_COMPARED_MEMBERS = 200

/**
 * Writes one sentence for each problem, at most eight.
 * @param showsValues whether the sentences may quote the value. Those that are logged may not.
 * @param schema the whole schema, for the members that a misspelt one may mean.
 */
export function describeProblems (
  errors: readonly ErrorObject[], value: unknown, showsValues: boolean, schema: unknown = {}
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
    const named = showsValues ? error : withoutName(error)
    problems.add(clip(describeProblem(named, previewAt, schema), MAX_SENTENCE))
    if (problems.size === MAX_PROBLEMS) break
  }
  return [...problems]
}

/** Hides the name of an unknown member, which is a part of the value. */
function withoutName (error: ErrorObject): ErrorObject {
  const name = '(a member)'
  return { ...error, params: { ...error.params, additionalProperty: name, unevaluatedProperty: name } }
}

function describeProblem (
  error: ErrorObject, previewAt: (pointer: string) => string, schema: unknown
): string {
  const path = pathOfPointer(error.instancePath)
  const place = path || 'value'
  const came = () => previewAt(error.instancePath)
  const member = (name: unknown) => path === '' ? String(name) : `${path}.${String(name)}`
  const unknown = (name: unknown) => (
    `${member(name)}: is not known here; ${adviceFor(String(name), error.schemaPath, schema)}`
  )
  const { params } = error
  switch (error.keyword) {
    case 'required': return `${member(params.missingProperty)}: is required, but missing`
    case 'dependentRequired': return `${member(params.property)}: needs ${String(params.missingProperty)}`
    case 'additionalProperties': return unknown(params.additionalProperty)
    case 'unevaluatedProperties': return unknown(params.unevaluatedProperty)
    case 'type': return `${place}: must be ${[params.type].flat().join(' or ')}, got ${came()}`
    case 'enum': return `${place}: must be one of ${toExpected(params.allowedValues)}, got ${came()}`
    case 'const': return `${place}: must be ${toExpected(params.allowedValue)}, got ${came()}`
    default: return `${place}: ${error.message ?? 'is invalid'}, got ${came()}`
  }
}

/** @param schemaPath of the keyword that refuses other members, as ajv names it. */
function adviceFor (name: string, schemaPath: string, schema: unknown): string {
  const parent = schemaPath.replace(/^#/, '').replace(/\/[^/]*$/, '')
  const members = Object.keys(Object(valueAt(schema, `${parent}/properties`)))
  if (members.length > MAX_COMPARED_MEMBERS) return 'remove it'
  const [nearest] = createNearestNames(members)(name, () => true)
  return nearest === undefined ? 'remove it' : `did you mean ${nearest}?`
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

export function valueAt (value: unknown, pointer: string): unknown {
  return segmentsOf(pointer).reduce<unknown>((at, segment) => {
    const isMember = typeof at === 'object' && at !== null && Object.hasOwn(at, segment)
    return isMember ? Reflect.get(at, segment) : undefined
  }, value)
}

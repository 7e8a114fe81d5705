// Accepts usual values of the service's own formats without ajv. To compile a format takes ajv 5 ms in a cold
// process, and a start needs a dozen of them, for a few values each. In doubt nothing is accepted here, and
// ajv decides.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { matchesFormat } from './ajv-instances.ts'
import { spend, startCheck, TooManySteps } from './check-cost.ts'

/** The parts of a value that are looked at. ajv decides about larger values. */
const MAX_PARTS = 1000

/**
 * Whether ajv would accept the value. False means that ajv must decide: the value is refused or large, or the
 * schema has a keyword that is not among those below.
 */
export function isPlainlyAccepted (schema: JsonSchema, value: unknown): boolean {
  startCheck(MAX_PARTS)
  try {
    return accepts(schema, value)
  } catch (error) {
    if (error instanceof TooManySteps) return false
    throw error
  }
}

function accepts (schema: unknown, value: unknown): boolean {
  spend(1)
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) return false
  for (const keyword in schema) {
    if (KEYWORDS[keyword]?.(schema[keyword], value, schema) !== true) return false
  }
  return true
}

type Keyword = (argument: unknown, value: unknown, schema: JsonSchema) => boolean

const TYPES: { readonly [type: string]: (value: unknown) => boolean } = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean'
}

/** The formats that own formats name. */
const FORMATS = ['uri', 'date', 'iso-date-time'] as const

/** Whether an object has a member itself. Whether an inherited one counts is for ajv to say. */
function has (value: JsonSchema, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}

const ofNumber = (test: (value: number, bound: number) => boolean): Keyword => {
  return (bound, value) => typeof value !== 'number' || test(value, Number(bound))
}

const ofText = (test: (text: string, argument: unknown) => boolean): Keyword => {
  return (argument, value) => typeof value !== 'string' || test(value, argument)
}

const ofItems = (test: (items: readonly unknown[], argument: unknown) => boolean): Keyword => {
  return (argument, value) => !Array.isArray(value) || test(value, argument)
}

const ofObject = (test: (value: JsonSchema, argument: JsonSchema) => boolean): Keyword => {
  return (argument, value) => !isObject(value) || (isObject(argument) && test(value, argument))
}

const KEYWORDS: { readonly [keyword: string]: Keyword } = {
  type: (type, value) => TYPES[String(type)]?.(value) === true,
  const: (expected, value) => typeof value === 'string' && value === expected,
  enum: (allowed, value) => typeof value === 'string' && Array.isArray(allowed) && allowed.includes(value),
  anyOf: (branches, value) => Array.isArray(branches) && branches.some((branch) => accepts(branch, value)),
  minimum: ofNumber((value, bound) => value >= bound),
  maximum: ofNumber((value, bound) => value <= bound),
  // JSON Schema counts code points. Each has one or two of the units that `length` counts.
  minLength: ofText((text, least) => text.length >= Number(least) * 2 || (least === 1 && text !== '')),
  maxLength: ofText((text, most) => text.length <= Number(most)),
  pattern: ofText((text, pattern) => toRegExp(String(pattern)).test(text)),
  format: ofText((text, format) => FORMATS.some((name) => name === format && matchesFormat(name, text))),
  minItems: ofItems((items, least) => items.length >= Number(least)),
  maxItems: ofItems((items, most) => items.length <= Number(most)),
  // A copy: `every` passes over holes.
  items: ofItems((items, schema) => [...items].every((item) => accepts(schema, item))),
  required: (names, value) => !isObject(value) ||
    (Array.isArray(names) && names.every((name) => has(value, name))),
  properties: ofObject((value, members) => {
    for (const name in members) {
      if (value[name] === undefined) continue
      if (!has(value, name) || !accepts(members[name], value[name])) return false
    }
    return true
  }),
  patternProperties: ofObject((value, members) => {
    for (const pattern in members) {
      for (const name in value) {
        spend(1)
        if (toRegExp(pattern).test(name) && !accepts(members[pattern], value[name])) return false
      }
    }
    return true
  }),
  additionalProperties: (rest, value, { properties = {}, patternProperties = {} }) => {
    if (!isObject(value)) return true
    for (const name in value) {
      spend(1)
      const isAdditional = !Object.hasOwn(Object(properties), name) &&
        !Object.keys(Object(patternProperties)).some((pattern) => toRegExp(pattern).test(name))
      if (isAdditional && !accepts(rest, value[name])) return false
    }
    return true
  },
  dependentRequired: ofObject((value, dependents) => {
    for (const name in dependents) {
      if (value[name] === undefined) continue
      if (!has(value, name) || !KEYWORDS.required?.(dependents[name], value, {})) return false
    }
    return true
  })
}

const regExps = new Map<string, RegExp>()

/** Compiles a pattern of an own format, as ajv does. */
function toRegExp (pattern: string): RegExp {
  let regExp = regExps.get(pattern)
  if (regExp === undefined) regExps.set(pattern, regExp = new RegExp(pattern, 'u'))
  return regExp
}

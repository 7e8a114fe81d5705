// Where a JSON Schema accepts less than another one. What clients send must stay accepted, and what they
// receive must stay what they expected: the same question, with the schemas exchanged.

import { isObject } from '../../platform/protocol/json-rpc.ts'
import { valuesOf } from '../../platform/schema/subschemas.ts'

/** A place of the schemas, and what the narrower one no longer accepts there. */
export interface Narrowing {
  readonly place: string
  readonly kind:
    'type' | 'values' | 'bound' | 'required' | 'removed' | 'closed' | 'incomparable'
  /** The types, values, names or keywords that make the difference. */
  readonly what: string
}

/** A schema, as its keywords. */
type Keywords = { readonly [keyword: string]: unknown }

const ALL_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string']
/** With these, a greater number accepts less; with the others, a smaller one. */
const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains']
const UPPER_BOUNDS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains']
/** Compared as texts: whether one of two patterns accepts more cannot be known. */
const OPAQUE = [
  'pattern', 'format', 'multipleOf', 'uniqueItems', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else',
  '$ref', '$dynamicRef', 'prefixItems', 'contains', 'patternProperties', 'propertyNames', 'dependentSchemas',
  'dependentRequired', 'dependencies', 'unevaluatedProperties', 'unevaluatedItems'
]

/** Every place where `to` refuses values that `from` accepts, as far as schemas can be compared. */
export function findNarrowings (from: unknown, to: unknown, place = ''): Narrowing[] {
  if (to === undefined || to === true || isSame(from, to)) return []
  if (to === false) return [{ place, kind: 'closed', what: 'every value' }]
  if (!isObject(to)) return []
  const wide: Keywords = isObject(from) ? from : {}
  return [
    ...narrowedTypes(wide, to, place), ...narrowedValues(wide, to, place), ...narrowedBounds(wide, to, place),
    ...narrowedMembers(wide, to, place),
    ...to.items === undefined ? [] : findNarrowings(wide.items, to.items, `${place}[]`),
    ...OPAQUE.filter((keyword) => keyword in to && !isSame(wide[keyword], to[keyword]))
      .map((name) => ({ place, kind: 'incomparable', what: name } as const))
  ]
}

function narrowedTypes (from: Keywords, to: Keywords, place: string): Narrowing[] {
  const types = typesOf(to)
  const lost = typesOf(from).filter(
    (type) => !types.includes(type) && !(type === 'integer' && types.includes('number'))
  )
  return lost.length === 0 ? [] : [{ place, kind: 'type', what: lost.join(', ') }]
}

/** The types that a schema allows. One that lists its values has no others to lose. */
function typesOf ({ type, ...keywords }: Keywords): readonly string[] {
  if (type === undefined) return valuesOf(keywords)?.map(typeOf) ?? ALL_TYPES
  return Array.isArray(type) ? type : [String(type)]
}

function typeOf (value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function narrowedValues (from: Keywords, to: Keywords, place: string): Narrowing[] {
  const after = valuesOf(to)
  if (after === undefined) return []
  const before = valuesOf(from)
  if (before === undefined) return [{ place, kind: 'values', what: `all but ${toList(after)}` }]
  const lost = before.filter((value) => !after.some((next) => isSame(next, value)))
  return lost.length === 0 ? [] : [{ place, kind: 'values', what: toList(lost) }]
}

function narrowedBounds (from: Keywords, to: Keywords, place: string): Narrowing[] {
  const isNarrower = (keyword: string, sign: number) => {
    const [before, after] = [from[keyword], to[keyword]]
    return typeof after === 'number' && (typeof before !== 'number' || (after - before) * sign > 0)
  }
  const keywords = [
    ...LOWER_BOUNDS.filter((keyword) => isNarrower(keyword, 1)),
    ...UPPER_BOUNDS.filter((keyword) => isNarrower(keyword, -1))
  ]
  return keywords.map((keyword) => ({ place, kind: 'bound', what: `${keyword} ${String(to[keyword])}` }))
}

function narrowedMembers (from: Keywords, to: Keywords, place: string): Narrowing[] {
  const [before, after] = [membersOf(from), membersOf(to)]
  const newlyRequired = namesIn(to.required).filter((name) => !namesIn(from.required).includes(name))
  const narrowings: Narrowing[] = newlyRequired.map((name) => ({ place, kind: 'required', what: name }))
  for (const [name, schema] of Object.entries(before)) {
    const next = after[name]
    const at = place === '' ? name : `${place}.${name}`
    if (next !== undefined) narrowings.push(...findNarrowings(schema, next, at))
    else if (to.additionalProperties === false) narrowings.push({ place, kind: 'removed', what: name })
  }
  if (to.additionalProperties === false && from.additionalProperties !== false && from !== to) {
    narrowings.push({ place, kind: 'closed', what: 'members that the schema does not name' })
  }
  return narrowings
}

export function membersOf ({ properties }: Keywords): { readonly [name: string]: unknown } {
  return isObject(properties) ? properties : {}
}

function namesIn (required: unknown): readonly string[] {
  return Array.isArray(required) ? required : []
}

function toList (values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}

/** The order of members says nothing. */
function isSame (before: unknown, after: unknown): boolean {
  return canonical(before) === canonical(after)
}

function canonical (value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => isObject(part)
    ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => a < b ? -1 : 1))
    : part) ?? ''
}

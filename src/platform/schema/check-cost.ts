// Bounds the work of one check. A check may evaluate the same part of a value many times: `anyOf` and `oneOf`
// once for each branch, a recursive `anyOf` exponentially often. The author chooses the schema, a client the
// value. Each evaluation takes steps from a budget, and the check ends when the budget is spent.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { memberNames } from './member-names.ts'
import { mapSubschemas, VALUES } from './subschemas.ts'

/** A step is about 0.3 µs of CPU time. */
export const CHECK_STEPS = 70_000

/** The check needs more steps than its budget has. */
export class TooManySteps extends Error {}

/** The steps that the current check has left. All checks share one budget: they are synchronous. */
let budget = 0

/** Begins a check. */
export function startCheck (steps: number): void {
  budget = steps
}

/** Throws TooManySteps when the budget is spent. */
export function spend (steps: number): void {
  budget -= steps
  if (budget < 0) throw new TooManySteps()
}

/** Takes the steps for each member of an object. To count them is part of the work. */
export function spendForMembers (value: object, steps: number): void {
  const names = memberNames(value)
  spend(names.length * steps)
  for (const { length } of names) if (length > LONG_NAME) spend(length * ESCAPED)
}

/** A problem has the names of members in its place. To escape a long one takes steps for each character. */
const ESCAPED = 0.4
const LONG_NAME = 1000

/** Keywords that `withCosts` adds to schemas. The values are steps: of each evaluation, item and member. */
export const COST = 'trivet:cost'
export const ITEM_COST = 'trivet:item-cost'
export const MEMBER_COST = 'trivet:member-cost'
/** Marks the schemas that matches of `contains` concern, if an `unevaluatedItems` asks for them. */
export const MATCHES = 'trivet:matches'
/** Marks the schemas that evaluate one part or another, if the whole schema asks for the rest. */
export const EVALUATED = 'trivet:evaluated'
const ADDED = [COST, ITEM_COST, MEMBER_COST, MATCHES, EVALUATED]

/** The steps that a keyword takes for each item of an array or member of an object, without a subschema. */
const ITEM_STEPS = 0.03
const CONTAINS_STEPS = 0.08
const MEMBER_STEPS = 0.35

/** Characters that a pattern or a comparison reads in one step. */
const CHARACTERS = 20

export function costOfText (length: number): number {
  return 0.2 + length / CHARACTERS
}

/** Keywords that matches of `contains` concern. */
const MATCHING = ['contains', 'unevaluatedItems', 'anyOf', 'oneOf', 'not', 'if']

/** Keywords that evaluate some parts of a value or others. */
const CHOOSING = ['anyOf', 'oneOf', 'if', 'dependentSchemas', 'patternProperties']

/** Copies the schema. Each subschema of the copy says what its evaluation costs, if that is much. */
export function withCosts (schema: JsonSchema): JsonSchema {
  const json = JSON.stringify(schema)
  const asksForRest = json.includes('"unevaluatedItems":') || json.includes('"unevaluatedProperties":')
  const asksForMatches = asksForRest && json.includes('"contains":')
  return copySchema(schema)

  function copySchema (original: JsonSchema): JsonSchema {
    const copy: { [keyword: string]: unknown } = { ...original }
    for (const keyword of ADDED) delete copy[keyword]
    for (const [keyword, value] of Object.entries(copy)) {
      if (!VALUES.has(keyword)) copy[keyword] = mapSubschemas(keyword, value, copyParts)
    }
    // ajv ignores an `if` whose `then` asks for nothing. What it evaluates counts as evaluated all the same.
    if ('if' in copy && asksForRest) copy.then = withKeyword(copy.then)
    const marks = {
      ...(asksForMatches && MATCHING.some((keyword) => keyword in copy) && { [MATCHES]: true }),
      ...(asksForRest && CHOOSING.some((keyword) => keyword in copy) && { [EVALUATED]: true })
    }
    return { ...costsOf(original), ...marks, ...copy }
  }

  function copyParts (value: unknown): unknown {
    if (Array.isArray(value)) return value.map(copyParts)
    return isObject(value) ? copySchema(value) : value
  }
}

/** Adds a keyword to a schema that accepts all, or is absent: ajv then evaluates it. */
function withKeyword (schema: unknown = true): unknown {
  if (schema === true) return { [COST]: 0 }
  return isObject(schema) ? { [COST]: 0, ...schema } : schema
}

/** Returns the costs of the schema as keywords, as far as there are any. */
function costsOf (schema: JsonSchema): JsonSchema {
  const costs = {
    [COST]: costOf(schema), [ITEM_COST]: costOfItem(schema), [MEMBER_COST]: costOfMember(schema)
  }
  return Object.fromEntries(Object.entries(costs).filter(([, steps]) => steps > 0))
}

/** Counts the steps of evaluating this schema once, without its subschemas, which have their own cost. */
function costOf (schema: JsonSchema): number {
  const branches = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema[keyword] ?? [])
  const single = ['not', 'if', 'contains', 'propertyNames', '$ref', '$dynamicRef', '$recursiveRef']
    .filter((keyword) => keyword in schema)
  return branches.reduce<number>((sum, branch) => sum + costOfBranch(branch), 0) + single.length +
    PARTS.reduce((sum, keyword) => sum + sizeOf(schema[keyword]), 0) / 8 +
    (Array.isArray(schema.items) ? schema.items.length / 8 : 0)
}

/** Keywords with parts that each evaluation looks at. */
const PARTS = [
  'properties', 'required', 'dependentRequired', 'dependentSchemas', 'dependencies', 'prefixItems'
]

function sizeOf (parts: unknown): number {
  if (Array.isArray(parts)) return parts.length
  if (!isObject(parts)) return 0
  return Object.values(parts)
    .reduce<number>((sum, part) => sum + (Array.isArray(part) ? 1 + part.length : 1), 0)
}

/** Counts the steps that the keywords of the schema take for each item of an array. */
function costOfItem (schema: JsonSchema): number {
  return ITEM_STEPS * ITEM_KEYWORDS.filter((keyword) => isObject(schema[keyword])).length +
    ('contains' in schema ? CONTAINS_STEPS : 0)
}

const ITEM_KEYWORDS = ['items', 'additionalItems', 'unevaluatedItems']

/** Counts the steps that the keywords of the schema take for each member of an object. */
function costOfMember (schema: JsonSchema): number {
  const count = MEMBER_KEYWORDS.filter((keyword) => (schema[keyword] ?? true) !== true).length
  return MEMBER_STEPS * (count + sizeOf(schema.patternProperties))
}

const MEMBER_KEYWORDS = [
  'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'minProperties', 'maxProperties'
]

/** A branch that only compares a type or a scalar is cheap. */
function costOfBranch (branch: unknown): number {
  const isCheap = !isObject(branch) || Object.keys(branch).every((keyword) => CHEAP.has(keyword))
  return isCheap ? 0.2 : 1
}

const CHEAP = new Set([
  'type', 'title', 'description', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems',
  'maxItems', 'minLength', 'maxLength'
])

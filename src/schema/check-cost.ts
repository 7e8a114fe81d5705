// Bounds the work of one check. A check may evaluate the same part of a value many times: `anyOf` and `oneOf`
// once for each branch, a recursive `anyOf` exponentially often. The author chooses the schema, a client the
// value. Each evaluation takes steps from a budget, and the check ends when the budget is spent.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'

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

/** The keyword that `withCosts` adds to schemas. Its value is a number of steps. */
export const COST = 'trivet:cost'

/** Characters that a pattern or a comparison reads in one step. */
const CHARACTERS = 20

export function costOfText (length: number): number {
  return 0.2 + length / CHARACTERS
}

/** Returns the cost of a comparison by the canonical JSON of a value. */
export function costOfKey (value: unknown, key: string): number {
  return costOfText(key.length) + (typeof value === 'object' ? 2 : 0)
}

/** Keywords whose value is an object of named schemas. */
const SCHEMA_MAPS = [
  'properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'
]
/** Keywords whose value is a schema, or a list of them. */
const SCHEMAS = [
  'allOf', 'anyOf', 'oneOf', 'prefixItems', 'items', 'additionalItems', 'unevaluatedItems', 'contains',
  'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'not', 'if', 'then', 'else'
]

/** Copies the schema. Each subschema of the copy says what its evaluation costs, if that is much. */
export function withCosts (schema: JsonSchema): JsonSchema {
  const copy: { [keyword: string]: unknown } = { ...schema }
  delete copy[COST]
  for (const keyword of SCHEMA_MAPS) {
    const members = copy[keyword]
    if (!isObject(members)) continue
    const entries = Object.entries(members).map(([name, member]) => [name, withCostsIfSchema(member)])
    copy[keyword] = Object.fromEntries(entries)
  }
  for (const keyword of SCHEMAS) {
    const value = copy[keyword]
    if (keyword in copy) {
      copy[keyword] = Array.isArray(value) ? value.map(withCostsIfSchema) : withCostsIfSchema(value)
    }
  }
  const cost = costOf(schema)
  return cost === 0 ? copy : { [COST]: cost, ...copy }
}

function withCostsIfSchema (value: unknown): unknown {
  return isObject(value) ? withCosts(value) : value
}

/** Counts the steps of evaluating this schema once, without its subschemas, which have their own cost. */
function costOf (schema: JsonSchema): number {
  const branches = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => schema[keyword] ?? [])
  const single = ['not', 'if', 'contains', 'propertyNames', '$ref', '$dynamicRef', '$recursiveRef']
    .filter((keyword) => keyword in schema)
  const names = isObject(schema.properties) ? Object.keys(schema.properties).length : 0
  const required = Array.isArray(schema.required) ? schema.required.length : 0
  return branches.reduce<number>((sum, branch) => sum + costOfBranch(branch), 0) + single.length +
    (names + required) / 8
}

/** A branch that only compares a type or a scalar is cheap. */
function costOfBranch (branch: unknown): number {
  const isCheap = !isObject(branch) || Object.keys(branch).every((keyword) => CHEAP.has(keyword))
  return isCheap ? 0.2 : 1
}

const CHEAP = new Set([
  'type', 'title', 'description', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minItems',
  'maxItems', 'minLength', 'maxLength'
])

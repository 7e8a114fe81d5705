// The parts of a schema that are schemas, and what its references lead to.

import { isObject } from '../protocol/json-rpc.ts'
import { valueAt } from './value-problems.ts'

/** Keywords of parts that a schema only has for references. */
export const DEFINITIONS = ['$defs', 'definitions']
/** Keywords whose value is an object of named schemas. */
const MAPS = new Set([...DEFINITIONS, 'properties', 'patternProperties', 'dependentSchemas', 'dependencies'])
/** Keywords with schemas. What one of them means depends on the others beside it. */
export const APPLICATORS = new Set([
  ...MAPS, 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'items', 'prefixItems',
  'additionalItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains', 'allOf', 'anyOf', 'oneOf',
  'not', 'if', 'then', 'else'
])
/** Keywords whose value is a value. Any other may be a schema that a reference leads to, or contain some. */
export const VALUES = new Set(['const', 'enum', 'default', 'examples'])

/**
 * Changes each schema in the value of a keyword.
 * @param change gets the path of the part from the keyword on, and its name.
 */
export function mapSubschemas (
  keyword: string, value: unknown, change: (part: unknown, path: string, name: string) => unknown
): unknown {
  if (Array.isArray(value)) return value.map((part, index) => change(part, `${keyword}/${index}`, ''))
  if (!MAPS.has(keyword) || !isObject(value)) return change(value, keyword, '')
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, change(part, `${keyword}/${name}`, name)])
  )
}

/** Returns the values that the schema lists, or `undefined` if it lists none. */
export function valuesOf (schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema)) return undefined
  return 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
}

/** Returns what a reference by a pointer leads to in the schema, or `undefined` if that is nothing. */
export function targetOf (root: unknown, $ref: unknown): unknown {
  if (typeof $ref !== 'string' || !/^#(?:\/|$)/.test($ref)) return undefined
  try {
    return valueAt(root, decodeURIComponent($ref.slice(1)))
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

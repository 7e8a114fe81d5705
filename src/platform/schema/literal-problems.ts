// Finds values in a schema that the schema itself refuses: every call that meets one of them would fail.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { SchemaError, type JsonSchemaCheck } from './json-schema.ts'
import { mapSubschemas } from './subschemas.ts'

interface LiteralOptions {
  /** Whether missing values are replaced by defaults. Otherwise a default is only a hint. */
  readonly usesDefaults: boolean
  compile (schema: JsonSchema): JsonSchemaCheck
}

/**
 * Finds each default and example that does not match its schema, each `enum` and `const` of which no value
 * has the schema's type, and each required member that a closed object cannot have.
 * @param root a valid schema.
 */
export function findLiteralProblems (root: JsonSchema, { usesDefaults, compile }: LiteralOptions): string[] {
  const problems: string[] = []
  walk(root, '')
  return problems

  function walk (schema: unknown, place: string): void {
    if (!isObject(schema)) return
    if (usesDefaults && schema.default !== undefined) checkValue(schema.default, schema, `${place}/default`)
    if (Array.isArray(schema.examples)) {
      for (const [index, example] of schema.examples.entries()) {
        checkValue(example, schema, `${place}/examples/${index}`)
      }
    }
    checkChoices(schema, place)
    checkRequired(schema, place)
    for (const keyword of APPLYING) {
      mapSubschemas(keyword, schema[keyword], (part, path) => walk(part, `${place}/${path}`))
    }
  }

  function checkValue (value: unknown, schema: JsonSchema, place: string): void {
    if (matchesSimply(value, schema)) return
    const { default: _default, examples, ...keywords } = schema
    // A reference leads out of the part that is compiled here.
    if (/"\$(?:dynamicR|recursiveR|r)ef":/.test(JSON.stringify(keywords))) return
    try {
      const dialect = root.$schema === undefined ? {} : { $schema: root.$schema }
      const verdict = compile({ ...dialect, ...keywords })(structuredClone(value))
      if (!verdict.ok) problems.push(`${place} does not match its own schema: ${verdict.problems.join('; ')}`)
    } catch (error) {
      // The whole schema has the same problem, and is compiled too.
      if (!(error instanceof SchemaError)) throw error
    }
  }

  function checkChoices ({ type, enum: choices, const: only }: JsonSchema, place: string): void {
    if (type === undefined) return
    if (only !== undefined && !hasType(only, type)) problems.push(`${place}/const has not the schema's type`)
    if (Array.isArray(choices) && !choices.some((choice) => hasType(choice, type))) {
      problems.push(`${place}/enum has no value of the schema's type`)
    }
  }

  function checkRequired (schema: JsonSchema, place: string): void {
    const { required, properties = {}, additionalProperties, patternProperties } = schema
    if (additionalProperties !== false || patternProperties !== undefined) return
    if (!Array.isArray(required) || !isObject(properties)) return
    for (const name of required) {
      if (Object.hasOwn(properties, String(name))) continue
      const problem = `${place}/required names ${JSON.stringify(name)}`
      problems.push(`${problem}, which is not in properties; additionalProperties: false forbids it`)
    }
  }
}

/** Not `not` and `if`, whose schemas may be meant to accept nothing. */
const APPLYING = [
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'anyOf', 'oneOf', 'allOf',
  'prefixItems', 'items', 'additionalProperties', 'contains', 'propertyNames', 'then', 'else'
]

type Rule = (value: unknown, limit: unknown) => boolean

/** Keywords that need no compiled check, which takes a millisecond. The first allow any value. */
const SIMPLE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...[
    'title', 'description', '$comment', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
    'x-mcp-header'
  ].map((keyword): [string, Rule] => [keyword, () => true]),
  ['type', hasType],
  ['enum', (value, choices) => Array.isArray(choices) && choices.includes(value)],
  ['minimum', (value, limit) => typeof value === 'number' && value >= Number(limit)],
  ['maximum', (value, limit) => typeof value === 'number' && value <= Number(limit)],
  ['minLength', (value, limit) => typeof value === 'string' && value.length / 2 >= Number(limit)],
  ['maxLength', (value, limit) => typeof value === 'string' && value.length <= Number(limit)]
])

/** Whether the value matches for reasons that need no compiled check. False if it takes one to know. */
function matchesSimply (value: unknown, schema: JsonSchema): boolean {
  return Object.entries(schema).every(([keyword, limit]) => SIMPLE.get(keyword)?.(value, limit) === true)
}

function hasType (value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((name) => hasType(value, name))
  const kind: string = typeof value
  switch (type) {
    case 'null': return value === null
    case 'array': return Array.isArray(value)
    case 'object': return isObject(value)
    case 'integer': return Number.isInteger(value)
    default: return type === kind
  }
}

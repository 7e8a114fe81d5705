// Reads schemas of other libraries (Zod, Valibot, ArkType) through their common interface, Standard Schema.
// https://standardschema.dev

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { messageOf } from '../../base/words.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { accepted, MAX_PROBLEMS, refused, type Check, type Verdict } from './check.ts'
import { SchemaError } from './json-schema.ts'

/** What a schema says of itself. Not every library can write JSON Schema. */
type Standard = StandardSchemaV1['~standard'] & Partial<StandardJSONSchemaV1['~standard']>

export function isStandardSchema (schema: unknown): schema is StandardSchemaV1 {
  if (typeof schema !== 'function' && (typeof schema !== 'object' || schema === null)) return false
  return '~standard' in schema
}

/**
 * Returns the JSON Schema of a value before the schema transforms it (`input`) or after (`output`). Throws a
 * SchemaError when the library cannot describe the schema.
 */
export function toJsonSchema (schema: StandardSchemaV1, direction: 'input' | 'output'): JsonSchema {
  const { vendor, jsonSchema: converter }: Standard = schema['~standard']
  if (converter === undefined) {
    throw new SchemaError([
      `a ${vendor} schema that cannot describe itself as JSON Schema; wrap it (Valibot: toStandardJsonSchema)`
    ])
  }
  try {
    return converter[direction]({ target: 'draft-2020-12' })
  } catch (error) {
    throw new SchemaError([`the ${vendor} schema has no JSON Schema: ${messageOf(error)}`])
  }
}

export function toCheck (schema: StandardSchemaV1): Check {
  return (value) => {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(toVerdict) : toVerdict(result)
  }
}

function toVerdict (result: StandardSchemaV1.Result<unknown>): Verdict {
  if (result.issues === undefined) return accepted(result.value)
  const issues = result.issues.slice(0, MAX_PROBLEMS)
  return refused(issues.map(({ path, message }) => `${pathOfIssue(path)}: ${message}`))
}

function pathOfIssue (path: StandardSchemaV1.Issue['path']): string {
  // Not `path.map`: ArkType's own array class maps an empty path to [0].
  const keys = Array.from(path ?? [], (segment) =>
    String(typeof segment === 'object' ? segment.key : segment))
  return keys.join('.') || 'value'
}

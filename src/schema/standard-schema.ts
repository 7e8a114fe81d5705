// Reads schemas of other libraries (Zod, Valibot, ArkType) through their common interface, Standard Schema.
// https://standardschema.dev

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { messageOf } from '../base/words.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { accepted, MAX_PROBLEMS, refused, type Check, type Verdict } from './check.ts'
import { SchemaError } from './json-schema.ts'

type JsonStandardSchema = StandardSchemaV1 & StandardJSONSchemaV1

export function isStandardSchema (schema: unknown): schema is StandardSchemaV1 {
  if (typeof schema !== 'function' && (typeof schema !== 'object' || schema === null)) return false
  return '~standard' in schema
}

/**
 * The JSON Schema of a value before the schema transforms it (`input`) or after (`output`). Throws a
 * SchemaError when the library cannot describe the schema.
 */
export function toJsonSchema (schema: StandardSchemaV1, direction: 'input' | 'output'): JsonSchema {
  const converter = hasJsonSchema(schema) ? schema['~standard'].jsonSchema : undefined
  if (converter === undefined) {
    const { vendor } = schema['~standard']
    throw new SchemaError([
      `a ${vendor} schema that cannot describe itself as JSON Schema; wrap it (Valibot: toStandardJsonSchema)`
    ])
  }
  try {
    return converter[direction]({ target: 'draft-2020-12' })
  } catch (error) {
    const reason = messageOf(error)
    throw new SchemaError([`the ${schema['~standard'].vendor} schema has no JSON Schema: ${reason}`])
  }
}

function hasJsonSchema (schema: StandardSchemaV1): schema is JsonStandardSchema {
  return 'jsonSchema' in schema['~standard']
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

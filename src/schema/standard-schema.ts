// Schemas of other libraries (Zod, Valibot, ArkType), through the interface that they share.
// https://standardschema.dev

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../protocol/primitives.ts'
import { accepted, refused, type Check, type Verdict } from './check.ts'
import { SchemaError } from './json-schema.ts'

export type StandardSchema = StandardSchemaV1 & StandardJSONSchemaV1

export function isStandardSchema (schema: unknown): schema is StandardSchemaV1 {
  return (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema
}

/** The JSON Schema of what goes in, or of what comes out. Throws a SchemaError where the library cannot say. */
export function toJsonSchema (schema: StandardSchemaV1, direction: 'input' | 'output'): JsonSchema {
  const converter = hasJsonSchema(schema) ? schema['~standard'].jsonSchema : undefined
  if (converter === undefined) {
    throw new SchemaError([`a ${schema['~standard'].vendor} schema that cannot describe itself as JSON Schema; wrap it (Valibot: toStandardJsonSchema)`])
  }
  try {
    return converter[direction]({ target: 'draft-2020-12' })
  } catch (error) {
    throw new SchemaError([`the ${schema['~standard'].vendor} schema has no JSON Schema: ${error instanceof Error ? error.message : String(error)}`])
  }
}

function hasJsonSchema (schema: StandardSchemaV1): schema is StandardSchema {
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
  return refused(result.issues.slice(0, 8).map(({ path, message }) => `${pathOfIssue(path)}: ${message}`))
}

function pathOfIssue (path: StandardSchemaV1.Issue['path']): string {
  // Not `path.map`: ArkType's paths are arrays of a class of their own, which maps an empty one to [0].
  return Array.from(path ?? [], (segment) => String(typeof segment === 'object' ? segment.key : segment)).join('.') || 'value'
}

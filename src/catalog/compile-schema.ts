// A definition's schema, of whichever kind: what is shown of it, and the check that it stands for.

import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import type { Check } from '../schema/check.ts'
import { SchemaError, type SchemaCompiler } from '../schema/json-schema.ts'
import { isStandardSchema, toCheck, toJsonSchema } from '../schema/standard-schema.ts'

export interface SchemaCompilers { readonly input: SchemaCompiler, readonly output: SchemaCompiler }

export interface CompiledSchema { readonly schema: JsonSchema, readonly check: Check }

/** `undefined` where the schema is unusable; every problem has then been reported. */
export function compileSchema (
  schema: object, direction: 'input' | 'output', compilers: SchemaCompilers, report: (rule: string) => void
): CompiledSchema | undefined {
  try {
    if (isStandardSchema(schema)) {
      const json = toJsonSchema(schema, direction)
      // What is shown to clients must be usable by them, although the library does the checking.
      compilers[direction].compile(json)
      return { schema: json, check: toCheck(schema) }
    }
    if (!isObject(schema)) {
      report('must be a JSON Schema object or a Standard Schema')
      return undefined
    }
    return { schema, check: compilers[direction].compile(schema) }
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    for (const fault of error.problems) report(fault)
    return undefined
  }
}

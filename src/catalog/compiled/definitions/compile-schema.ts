// Compiles a schema of a definition, of any kind: the JSON Schema for clients, and the check.

import { toWellFormedJson } from '../../../base/text.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../../platform/protocol/primitives.ts'
import type { Check } from '../../../platform/schema/check.ts'
import { checkJsonForm } from '../../../platform/schema/json-form.ts'
import {
  createSchemaCompiler, SchemaError, type JsonSchemaCheck, type SchemaCompiler
} from '../../../platform/schema/json-schema.ts'
import { findLiteralProblems } from '../../../platform/schema/literal-problems.ts'
import { findNestingProblem } from '../../../platform/schema/schema-limits.ts'
import {
  isStandardSchema, refuseZod3, toCheck, toJsonSchema
} from '../../../platform/schema/standard-schema.ts'

export interface SchemaCompilers { readonly input: SchemaCompiler, readonly output: SchemaCompiler }

/** If the caller passes the same compilers for each load of a catalog, only new schemas are compiled. */
export function createSchemaCompilers (): SchemaCompilers {
  return {
    input: createSchemaCompiler({ useDefaults: true }),
    // Problems of an output are logged.
    output: createSchemaCompiler({ useDefaults: false, showsValues: false })
  }
}

export interface CompiledSchema {
  readonly schema: JsonSchema
  /** The schema as JSON. */
  readonly json: string
  readonly check: Check
  /** The check of the JSON Schema, as clients do it. */
  readonly clientCheck: JsonSchemaCheck
}

/**
 * Returns `undefined` when the schema is unusable. Every problem has then been reported. The check of an
 * output accepts only values with a JSON form, and its accepted value is plain JSON.
 * @param toClientSchema returns the schema that clients get.
 */
export function compileSchema (
  schema: object, direction: 'input' | 'output', compilers: SchemaCompilers, report: (rule: string) => void,
  toClientSchema = (schema: JsonSchema) => schema
): CompiledSchema | undefined {
  try {
    refuseZod3(schema)
    if (isStandardSchema(schema)) {
      const jsonSchema = toClientSchema(toJsonSchema(schema, direction))
      const json = toJson(jsonSchema)
      // The library does the check. The JSON Schema is compiled too, to learn whether clients can use it.
      const clientCheck = compilers[direction].compile(jsonSchema, json)
      const libraryCheck = toCheck(schema)
      const check = direction === 'input' ? libraryCheck : checkJsonForm(libraryCheck, false)
      return { schema: jsonSchema, json, check, clientCheck }
    }
    if (!isObject(schema)) {
      report('must be a JSON Schema object or a Standard Schema')
      return undefined
    }
    const ownSchema = toClientSchema(schema)
    const ownJson = toJson(ownSchema)
    // Clients repeat the names and the choices of an input as they are sent.
    const json = direction === 'input' ? toWellFormedJson(ownJson) : ownJson
    const parsed: JsonSchema = json === ownJson ? ownSchema : JSON.parse(json)
    const { compile } = compilers[direction]
    const clientCheck = compile(parsed, json)
    const problems = findLiteralProblems(parsed, { usesDefaults: direction === 'input', compile })
    if (problems.length > 0) throw new SchemaError(problems)
    const check = direction === 'input' ? clientCheck : checkJsonForm(clientCheck, true)
    return { schema: parsed, json, check, clientCheck }
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    for (const problem of error.problems) report(problem)
    return undefined
  }
}

function toJson (schema: JsonSchema): string {
  try {
    return JSON.stringify(schema)
  } catch (error) {
    const problem = findNestingProblem(schema)
    throw problem === undefined ? error : new SchemaError([problem])
  }
}

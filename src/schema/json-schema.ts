// JSON Schema to a check. The only file that knows ajv.

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../protocol/primitives.ts'
import { accepted, refused, type Verdict } from './check.ts'
import { isDeferrable } from './deferrable.ts'
import { dialectOf, type Dialect } from './dialects.ts'
import { describeProblems, describeValue } from './value-problems.ts'
import { findSchemaProblems } from './schema-limits.ts'

/** A schema that cannot be used, with every reason. */
export class SchemaError extends Error {
  readonly problems: readonly string[]

  constructor (problems: readonly string[]) {
    super(problems.join('; '))
    this.name = 'SchemaError'
    this.problems = problems
  }
}

export type JsonSchemaCheck = (value: unknown) => Verdict

export interface SchemaCompiler {
  /** A check of values against the schema; equal schemas share one. Throws a SchemaError where the schema is unusable. */
  compile (schema: JsonSchema): JsonSchemaCheck
}

export interface SchemaCompilerOptions {
  /** Whether a missing value is filled from its schema's `default` before it is checked. */
  useDefaults: boolean
}

// Failures are collected in full only for values this small: a large wrong value must not cost more than it is worth.
const EXPLAINED_JSON_LENGTH = 16_384

export function createSchemaCompiler ({ useDefaults }: SchemaCompilerOptions): SchemaCompiler {
  const options: Options = {
    // Schemas come from catalogs, and `x-mcp-header` and other annotations are welcome in them.
    strict: false,
    logger: false,
    addUsedSchema: false,
    useDefaults,
    code: { optimize: false }
  }
  const first = createInstances(options)
  const all = createInstances({ ...options, allErrors: true })
  const shared = new Map<string, JsonSchemaCheck>()

  return {
    compile (schema) {
      const json = JSON.stringify(schema)
      const known = shared.get(json)
      if (known !== undefined) return known
      const problems = findSchemaProblems(schema, json)
      const dialect = dialectOf(schema)
      if (dialect === undefined) problems.push(`/$schema ${JSON.stringify(schema.$schema)} is not supported; use JSON Schema 2020-12 (the default) or draft-07`)
      if (dialect === undefined || problems.length > 0) throw new SchemaError(problems)
      // The dialect is settled, and ajv knows each under one spelling alone. With a name of its own, "#" is the schema itself.
      const named = { $id: `urn:trivet:schema:${shared.size}`, ...schema, $schema: undefined }
      const check = compileChecked(named, isDeferrable(schema), first(dialect), () => all(dialect))
      shared.set(json, check)
      return check
    }
  }
}

function createInstances (options: Options): (dialect: Dialect) => Ajv {
  const made = new Map<Dialect, Ajv>()
  return (dialect) => {
    let ajv = made.get(dialect)
    if (ajv === undefined) {
      ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
      addFormats.default(ajv)
      made.set(dialect, ajv)
    }
    return ajv
  }
}

function compileChecked (schema: JsonSchema, mayWait: boolean, ajv: Ajv, explainer: () => Ajv): JsonSchemaCheck {
  if (ajv.validateSchema(schema) !== true) throw new SchemaError(toSchemaProblems(ajv.errors))
  let validate: ValidateFunction | undefined
  let explain: ValidateFunction | undefined
  if (!mayWait) validate = compileNow(ajv, schema)

  return (value) => {
    validate ??= compileNow(ajv, schema)
    try {
      if (validate(value)) return accepted(value)
      if (describeValue(value).length > EXPLAINED_JSON_LENGTH) return refused(describeProblems(validate.errors ?? [], value))
      explain ??= compileNow(explainer(), schema)
      explain(value)
      return refused(describeProblems(explain.errors ?? [], value))
    } catch (error) {
      if (error instanceof RangeError) return refused(['is nested too deeply'])
      throw error
    }
  }
}

function compileNow (ajv: Ajv, schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(schema)
  } catch (error) {
    throw new SchemaError([error instanceof Error ? error.message : String(error)])
  }
}

function toSchemaProblems (errors: ErrorObject[] | null | undefined): string[] {
  return (errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath || '/'} ${message ?? 'is invalid'}${'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues)}` : ''}`)
}

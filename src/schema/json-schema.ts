// Compiles a JSON Schema to a check. No other file imports ajv.

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../protocol/primitives.ts'
import { accepted, refused, type Verdict } from './check.ts'
import { isDeferrable } from './deferrable.ts'
import { dialectOf, type Dialect } from './dialects.ts'
import { replaceComparisons } from './json-equality.ts'
import { createLinearPattern } from './linear-pattern.ts'
import { describeProblems, describeValue } from './value-problems.ts'
import { findSchemaProblems } from './schema-limits.ts'

/** The schema cannot be used. Has every problem of it. */
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
  /** Compiles a check. Equal schemas share one. Throws a SchemaError when the schema is unusable. */
  compile (schema: JsonSchema): JsonSchemaCheck
}

export interface SchemaCompilerOptions {
  /** Whether a missing value is replaced by its schema's `default` before the check. */
  useDefaults: boolean
}

// All problems are collected for values up to this length. A larger value gets its first problem only:
// collecting takes time in proportion to the value, and a client chooses the value.
const EXPLAINED_JSON_LENGTH = 16_384

/** `code` is for schemas that are compiled to a file. Ours are not. */
const linearRegExp = Object.assign(createLinearPattern, { code: 'createLinearPattern' })

export function createSchemaCompiler ({ useDefaults }: SchemaCompilerOptions): SchemaCompiler {
  const options: Options = {
    // Allows unknown keywords: `x-mcp-header` and other annotations of the author.
    strict: false,
    logger: false,
    addUsedSchema: false,
    useDefaults,
    code: { optimize: false, regExp: linearRegExp }
  }
  // Stops at the first problem: most values are accepted. The other collects all problems of a refused value.
  const fast = createInstances(options)
  const complete = createInstances({ ...options, allErrors: true })
  const shared = new Map<string, JsonSchemaCheck>()

  return {
    compile (schema) {
      const json = JSON.stringify(schema)
      const known = shared.get(json)
      if (known !== undefined) return known
      const problems = findSchemaProblems(schema, json)
      const dialect = dialectOf(schema)
      if (dialect === undefined) {
        const declared = `/$schema ${JSON.stringify(schema.$schema)}`
        problems.push(`${declared} is not supported; use JSON Schema 2020-12 (the default) or draft-07`)
      }
      if (dialect === undefined || problems.length > 0) throw new SchemaError(problems)
      // `$schema` has several spellings for one dialect, and ajv accepts only one of them. The `$id` makes
      // "#" refer to this schema.
      const named = { $id: `urn:trivet:schema:${shared.size}`, ...schema, $schema: undefined }
      const check = compileChecked(named, isDeferrable(schema), fast(dialect), () => complete(dialect))
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
      replaceComparisons(ajv)
      made.set(dialect, ajv)
    }
    return ajv
  }
}

function compileChecked (
  schema: JsonSchema, mayWait: boolean, ajv: Ajv, explainer: () => Ajv
): JsonSchemaCheck {
  if (ajv.validateSchema(schema) !== true) throw new SchemaError(toSchemaProblems(ajv.errors))
  let validate: ValidateFunction | undefined
  let explain: ValidateFunction | undefined
  if (!mayWait) validate = compileNow(ajv, schema)

  return (value) => {
    validate ??= compileNow(ajv, schema)
    try {
      if (validate(value)) return accepted(value)
      if (describeValue(value).length > EXPLAINED_JSON_LENGTH) {
        return refused(describeProblems(validate.errors ?? [], value))
      }
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
  return (errors ?? []).map(({ instancePath, message, params }) => {
    const allowed = 'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues)}` : ''
    return `${instancePath || '/'} ${message ?? 'is invalid'}${allowed}`
  })
}

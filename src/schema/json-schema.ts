// Compiles a JSON Schema to a check. No other file imports ajv.

import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../protocol/primitives.ts'
import {
  addCostKeyword, CHECK_STEPS, createMeter, meterPattern, TooManySteps, withCosts, type Meter
} from './check-cost.ts'
import { accepted, refused, type Verdict } from './check.ts'
import { isDeferrable } from './deferrable.ts'
import { dialectOf, type Dialect } from './dialects.ts'
import { replaceComparisons } from './json-equality.ts'
import { createLinearPattern } from './linear-pattern.ts'
import { isLongerThan } from './value-preview.ts'
import { describeProblems } from './value-problems.ts'
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

// All problems are collected for values up to this length of JSON. A larger value gets its first problem
// only: collecting takes time in proportion to the value, and a client chooses the value.
const EXPLAINED_JSON_LENGTH = 16_384
const EXPLAIN_STEPS = 10_000
const TOO_COSTLY =
  `needs more than ${CHECK_STEPS} steps to be checked; send less at once`

export function createSchemaCompiler ({ useDefaults }: SchemaCompilerOptions): SchemaCompiler {
  const meter = createMeter()
  const createPattern = (pattern: string) => meterPattern(createLinearPattern(pattern), meter)
  const options: Options = {
    // Allows unknown keywords: `x-mcp-header` and other annotations of the author.
    strict: false,
    logger: false,
    addUsedSchema: false,
    useDefaults,
    // The inner `code` is for schemas that are compiled to a file. Ours are not.
    code: { optimize: false, regExp: Object.assign(createPattern, { code: 'createPattern' }) }
  }
  // Stops at the first problem: most values are accepted. The other collects all problems of a refused value.
  const fast = createInstances(options, meter)
  const complete = createInstances({ ...options, allErrors: true }, meter)
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
      const [ajv, explainer] = [fast(dialect), () => complete(dialect)]
      const check = compileChecked(named, isDeferrable(schema), { ajv, explainer, meter })
      shared.set(json, check)
      return check
    }
  }
}

function createInstances (options: Options, meter: Meter): (dialect: Dialect) => Ajv {
  const made = new Map<Dialect, Ajv>()
  return (dialect) => {
    let ajv = made.get(dialect)
    if (ajv === undefined) {
      ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
      addFormats.default(ajv)
      replaceComparisons(ajv, meter)
      addCostKeyword(ajv, meter)
      made.set(dialect, ajv)
    }
    return ajv
  }
}

interface Compilers { readonly ajv: Ajv, readonly explainer: () => Ajv, readonly meter: Meter }

function compileChecked (
  schema: JsonSchema, mayWait: boolean, { ajv, explainer, meter }: Compilers
): JsonSchemaCheck {
  // The meta-schema has patterns, too. The author chooses how much there is to check.
  meter.start(Infinity)
  if (ajv.validateSchema(schema) !== true) throw new SchemaError(toSchemaProblems(ajv.errors))
  let validate: ValidateFunction | undefined
  let explain: ValidateFunction | undefined
  if (!mayWait) validate = compileNow(ajv, schema, meter)

  /** Every problem of the value, or `undefined` if looking for them costs too much. */
  function findProblems (value: unknown): string[] | undefined {
    if (isLongerThan(value, EXPLAINED_JSON_LENGTH)) return undefined
    explain ??= compileNow(explainer(), schema, meter)
    meter.start(EXPLAIN_STEPS)
    try {
      explain(value)
      return describeProblems(explain.errors ?? [], value)
    } catch (error) {
      if (error instanceof TooManySteps) return undefined
      throw error
    }
  }

  return (value) => {
    validate ??= compileNow(ajv, schema, meter)
    meter.start(CHECK_STEPS)
    try {
      if (validate(value)) return accepted(value)
      const first = validate.errors ?? []
      return refused(findProblems(value) ?? describeProblems(first, value))
    } catch (error) {
      if (error instanceof TooManySteps) return refused([TOO_COSTLY])
      if (error instanceof RangeError) return refused(['is nested too deeply'])
      throw error
    }
  }
}

function compileNow (ajv: Ajv, schema: JsonSchema, meter: Meter): ValidateFunction {
  meter.start(Infinity)
  try {
    return ajv.compile(withCosts(schema))
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

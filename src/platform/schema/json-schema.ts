// Compiles a JSON Schema to a check.

import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { Generations } from '../../base/generations.ts'
import { messageOf } from '../../base/words.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { createInstances, dialectOf, OPTIONS, type Instances } from './ajv-instances.ts'
import { CHECK_STEPS, startCheck, TooManySteps, withCosts } from './check-cost.ts'
import { accepted, refused, type Verdict } from './check.ts'
import { forgetMatches } from './contained-items.ts'
import { isDeferrable } from './deferrable.ts'
import { findSchemaProblems } from './schema-limits.ts'
import { isLongerThan, preview } from './value-preview.ts'
import { describeProblems, valueAt } from './value-problems.ts'

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
  /**
   * Compiles a check. Equal schemas share one. Throws a SchemaError when the schema is unusable.
   * @param json the schema as JSON, if the caller has it.
   */
  compile (schema: JsonSchema, json?: string): JsonSchemaCheck
  /** Drops the checks that `compile` was not asked for since the last call. */
  forgetUnused (): void
}

export interface SchemaCompilerOptions {
  /** Whether a missing value is replaced by its schema's `default` before the check. */
  useDefaults: boolean
  /** Whether problems may quote the value. True by default; false for values that must not be logged. */
  showsValues?: boolean
}

// All problems are collected for values up to this length of JSON. A larger value gets its first problem
// only: collecting takes time in proportion to the value, and a client chooses the value.
const EXPLAINED_JSON_LENGTH = 16_384
const EXPLAIN_STEPS = 10_000
const TOO_COSTLY = `needs more than ${CHECK_STEPS} steps to be checked; send less at once`

/** Begins the `$id` of each schema that has none. Its author does not know it. */
const OWN_IDS = 'urn:trivet:schema:'
const OWN_ID = new RegExp(`(?: from id )?${OWN_IDS}\\d+`, 'g')

/** An instance of ajv keeps parts of each schema that it compiles, so it is replaced after this number. */
const MAX_SCHEMAS_PER_INSTANCE = 1000

/**
 * Names of members that every object inherits. For schemas with such a name ajv looks at own members only,
 * which makes a check slower.
 */
const INHERITED = new RegExp(`"(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})"`)

/** Checks schemas against their meta-schemas. All compilers share it: compiling a meta-schema takes long. */
const metaSchemas = createInstances(OPTIONS)

export function createSchemaCompiler (
  { useDefaults, showsValues = true }: SchemaCompilerOptions
): SchemaCompiler {
  const options: Options = { ...OPTIONS, useDefaults, meta: false, validateSchema: false }
  const checks = new Generations<JsonSchemaCheck>()
  let instances = createPair(options)
  /** For schemas with inherited names. */
  let ownInstances: InstancePair | undefined
  let compiledCount = 0

  function compileNew (schema: JsonSchema, json: string): JsonSchemaCheck {
    const problems = findSchemaProblems(schema, json)
    const dialect = dialectOf(schema)
    if (dialect === undefined) {
      const declared = `/$schema ${JSON.stringify(schema.$schema)}`
      problems.push(`${declared} is not supported; use JSON Schema 2020-12 (the default) or draft-07`)
    }
    if (dialect === undefined || problems.length > 0) throw new SchemaError(problems)
    // `$schema` has several spellings for one dialect, and ajv accepts only one of them. The `$id` makes
    // "#" refer to this schema.
    const identified = { $id: `${OWN_IDS}${compiledCount++}`, ...schema, $schema: undefined }
    const mayWait = isDeferrable(schema)
    if (!mayWait) assertValid(identified, metaSchemas(dialect))
    const pair = INHERITED.test(json)
      ? ownInstances ??= createPair({ ...options, ownProperties: true })
      : instances
    return createCheck((kind) => compileWith(pair[kind](dialect), identified), mayWait, showsValues, schema)
  }

  return {
    compile: (schema, json = JSON.stringify(schema)) =>
      checks.get(json) ?? checks.set(json, compileNew(schema, json)),
    forgetUnused () {
      checks.forgetUnused()
      if (compiledCount < MAX_SCHEMAS_PER_INSTANCE) return
      compiledCount = 0
      instances = createPair(options)
      ownInstances = undefined
    }
  }
}

interface InstancePair {
  /** Stops at the first problem: most values are accepted. */
  readonly fast: Instances
  /** Collects all problems of a refused value. */
  readonly complete: Instances
}

export function createPair (options: Options): InstancePair {
  return { fast: createInstances(options), complete: createInstances({ ...options, allErrors: true }) }
}

function assertValid (schema: JsonSchema, metaSchema: Ajv): void {
  // The meta-schema has patterns, too. The author chooses how much there is to check.
  startCheck(Infinity)
  if (metaSchema.validateSchema(schema) !== true) {
    throw new SchemaError(toSchemaProblems(metaSchema.errors ?? [], schema))
  }
}

/**
 * @param mayWait whether the schema may be compiled at the first use.
 * @param accepts decides instead of the check that stops at the first problem. Names no problems.
 */
export function createCheck (
  compile: (kind: keyof InstancePair) => ValidateFunction, mayWait: boolean, showsValues: boolean,
  schema: JsonSchema, accepts?: ValidateFunction
): JsonSchemaCheck {
  let explain: ValidateFunction | undefined
  let validate = mayWait ? undefined : compile('fast')

  /** Finds every problem of the value, or returns `undefined` if looking for them costs too much. */
  function findProblems (value: unknown): string[] | undefined {
    if (isLongerThan(value, EXPLAINED_JSON_LENGTH)) return undefined
    explain ??= compile('complete')
    startCheck(EXPLAIN_STEPS)
    try {
      explain(value)
      return describeProblems(explain.errors ?? [], value, showsValues, schema)
    } catch (error) {
      if (error instanceof TooManySteps) return undefined
      throw error
    }
  }

  function findFirstProblem (value: unknown): string[] {
    validate ??= compile('fast')
    if (accepts !== undefined) {
      startCheck(CHECK_STEPS)
      validate(value)
    }
    return describeProblems(validate.errors ?? [], value, showsValues, schema)
  }

  return (value) => {
    startCheck(CHECK_STEPS)
    forgetMatches()
    try {
      const decide = accepts ?? (validate ??= compile('fast'))
      if (decide(value)) return accepted(value)
      return refused(findProblems(value) ?? findFirstProblem(value))
    } catch (error) {
      if (error instanceof TooManySteps) return refused([TOO_COSTLY])
      if (error instanceof RangeError) return refused(['is nested too deeply'])
      throw error
    }
  }
}

export function compileWith (ajv: Ajv, schema: JsonSchema): ValidateFunction {
  try {
    return ajv.compile(withCosts(schema))
  } catch (error) {
    throw new SchemaError([messageOf(error).replaceAll(OWN_ID, '')])
  }
}

function toSchemaProblems (errors: readonly ErrorObject[], schema: JsonSchema): string[] {
  const ofEnum = errors.filter(({ keyword }) => keyword === 'enum')
  const places = new Set(ofEnum.map(({ instancePath }) => instancePath))
  // A wrong `type` fails as one of the types, as a list of them, and as the choice between the two.
  const ofKeywords = errors.filter(({ instancePath }) => !places.has(instancePath))
  return [...ofEnum, ...ofKeywords].map(({ instancePath, message, params }) => {
    const place = instancePath || '/'
    if (!('allowedValues' in params)) return `${place} ${message ?? 'is invalid'}`
    const value = preview(valueAt(schema, instancePath))
    return `${place} must be one of ${params.allowedValues.map(String).join(', ')}, got ${value}`
  })
}

// Checks and readers for values of the service's own formats. One schema is both the check and the type.

import { invalidParams } from '../protocol/errors.ts'
import { OWN_FORMATS, SCOPE } from './ajv-instances.ts'
import { createBuiltChecks } from './built-checks.ts'
import { compileWith, createCheck, createPair, type JsonSchemaCheck } from './json-schema.ts'
import type { Static, FormatSchema } from './type.ts'

const builtChecks = createBuiltChecks(SCOPE)
const instances = createPair(OWN_FORMATS)
/** A key is the JSON of a schema, and whether its check shows values. The apps of a process share checks. */
const checks = new Map<string, JsonSchemaCheck>()

export function checkOf (schema: FormatSchema, showsValues = true): JsonSchemaCheck {
  const json = JSON.stringify(schema)
  const key = `${showsValues} ${json}`
  const compile = (kind: keyof typeof instances) => compileWith(instances[kind]('2020-12'), schema)
  const check = checks.get(key) ?? createCheck(compile, true, showsValues, schema, builtChecks.get(json))
  checks.set(key, check)
  return check
}

/** Creates a check of outputs of handlers: problems of outputs are logged, and do not quote them. */
export const checkOfOutput = (schema: FormatSchema) => checkOf(schema, false)

/** Creates a reader of values of the schema's type. It throws what `toError` makes of the problems. */
export function createReader<T extends FormatSchema> (
  schema: T, toError: (problems: readonly string[]) => Error
): (value: unknown) => Static<T> {
  const check = checkOf(schema)
  function assertAccepted (value: unknown): asserts value is Static<T> {
    const verdict = check(value)
    if (!verdict.ok) throw toError(verdict.problems)
  }
  return (value) => {
    assertAccepted(value)
    return value
  }
}

/** Creates a reader of params of the schema's type. It throws invalid params that name the wrong field. */
export function createParamsReader<T extends FormatSchema> (schema: T): (params: unknown) => Static<T> {
  return createReader(schema, (problems) => invalidParams(problems.join('; ')))
}

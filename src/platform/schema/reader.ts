// Checks and readers for values of the service's own formats. One schema is both the check and the type.

import { invalidParams } from '../protocol/errors.ts'
import { accepted } from './check.ts'
import { createSchemaCompiler, type JsonSchemaCheck, type SchemaCompiler } from './json-schema.ts'
import { isPlainlyAccepted } from './plain-acceptance.ts'
import type { Static, FormatSchema } from './type.ts'

const compiler = createSchemaCompiler({ useDefaults: false, isOwn: true })
const hidingCompiler = createSchemaCompiler({ useDefaults: false, isOwn: true, showsValues: false })

/** A format that accepts more values is compiled: ajv's check then takes a tenth of the time. */
const PLAIN_VALUES = 100

/**
 * Creates a check. It compiles the schema for the first value that is not plainly accepted: a start checks a
 * few values of a dozen formats, and to compile these takes a tenth of its time.
 */
export function checkOf (schema: FormatSchema, { compile }: SchemaCompiler = compiler): JsonSchemaCheck {
  let check: JsonSchemaCheck | undefined
  let plainValues = 0
  return (value) => {
    if (check === undefined && plainValues < PLAIN_VALUES && isPlainlyAccepted(schema, value)) {
      plainValues++
      return accepted(value)
    }
    check ??= compile(schema)
    return check(value)
  }
}

/** Creates a check of outputs of handlers: problems of outputs are logged, and do not quote them. */
export const checkOfOutput = (schema: FormatSchema) => checkOf(schema, hidingCompiler)

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

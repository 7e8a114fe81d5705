// Checks and readers for values of the service's own formats. One schema is both the check and the type.

import type { Static, TSchema } from 'typebox'
import { createSchemaCompiler, type JsonSchemaCheck } from './json-schema.ts'

const compiler = createSchemaCompiler({ useDefaults: false })

export function checkOf (schema: TSchema): JsonSchemaCheck {
  return compiler.compile(Object.fromEntries(Object.entries(schema)))
}

/**
 * The reader returns a value of the schema's type. It throws the error that `toError` makes of the problems.
 */
export function createReader<T extends TSchema> (
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

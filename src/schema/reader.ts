// Parsing of what this service itself knows the form of: the schema that checks a value is also its type.

import type { Static, TSchema } from 'typebox'
import { createSchemaCompiler, type JsonSchemaCheck } from './json-schema.ts'

const compiler = createSchemaCompiler({ useDefaults: false })

export function checkOf (schema: TSchema): JsonSchemaCheck {
  return compiler.compile(Object.fromEntries(Object.entries(schema)))
}

/** Returns the value as what the schema says it is, or throws the error that is made of what is wrong. */
export function createReader<T extends TSchema> (schema: T, toError: (problems: readonly string[]) => Error): (value: unknown) => Static<T> {
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

// Checks and readers for values of the service's own formats. One schema is both the check and the type.

import { Type, type Static, type TSchema } from 'typebox'
import { createSchemaCompiler, type JsonSchemaCheck, type SchemaCompiler } from './json-schema.ts'

const compiler = createSchemaCompiler({ useDefaults: false })
const hidingCompiler = createSchemaCompiler({ useDefaults: false, showsValues: false })

/**
 * An object whose members all have one schema. Not `Type.Record`: that one matches a pattern with the name of
 * each member, and a client chooses how many members there are.
 */
export function recordOf<T extends TSchema> (member: T) {
  return Type.Unsafe<{ [name: string]: Static<T> }>({ type: 'object', additionalProperties: member })
}

/**
 * The first call compiles the schema. A service needs few of the formats before it listens, and compiling all
 * of them takes a quarter of the time to start.
 */
export function checkOf (schema: TSchema): JsonSchemaCheck {
  return compileLater(compiler, schema)
}

/** For outputs of handlers: problems of outputs are logged, and do not quote them. */
export function checkOfOutput (schema: TSchema): JsonSchemaCheck {
  return compileLater(hidingCompiler, schema)
}

function compileLater ({ compile }: SchemaCompiler, schema: TSchema): JsonSchemaCheck {
  let check: JsonSchemaCheck | undefined
  return (value) => {
    check ??= compile(Object.fromEntries(Object.entries(schema)))
    return check(value)
  }
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

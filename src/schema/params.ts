// Reads the params of a method. One schema is both their check and their type.

import { invalidParams } from '../protocol/errors.ts'
import { createReader } from './reader.ts'
import type { Static, TypedSchema } from './type.ts'

/** The reader returns params of the schema's type. It throws invalid params that name the wrong field. */
export function createParamsReader<T extends TypedSchema> (schema: T): (params: unknown) => Static<T> {
  return createReader(schema, (problems) => invalidParams(problems.join('; ')))
}

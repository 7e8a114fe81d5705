// Reads the params of a method. One schema is both their check and their type.

import type { Static, TSchema } from 'typebox'
import { invalidParams } from '../protocol/errors.ts'
import { createReader } from './reader.ts'

/** The reader returns params of the schema's type. It throws invalid params that name the wrong field. */
export function createParamsReader<T extends TSchema> (schema: T): (params: unknown) => Static<T> {
  return createReader(schema, (problems) => invalidParams(problems.join('; ')))
}

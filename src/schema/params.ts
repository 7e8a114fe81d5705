// Params of a method: the schema that checks them is also their type.

import type { Static, TSchema } from 'typebox'
import { invalidParams } from '../protocol/errors.ts'
import { createReader } from './reader.ts'

/** Returns the params as what the schema says they are, or throws invalid params, naming the field. */
export function createParamsReader<T extends TSchema> (schema: T): (params: unknown) => Static<T> {
  return createReader(schema, (problems) => invalidParams(problems.join('; ')))
}

// The checks of the service's own formats, by the JSON of their schemas. The build writes this file: ajv
// takes 5 ms in a cold process to compile a format, and a start needs a dozen. Sources that run without a
// build have no such checks, and compile each format for its first value.

import type { ValidateFunction } from 'ajv'
import type { SCOPE } from './ajv-instances.ts'

export const createBuiltChecks = (_scope: typeof SCOPE): ReadonlyMap<string, ValidateFunction> => new Map()

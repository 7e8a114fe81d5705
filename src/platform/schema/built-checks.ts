// The checks of the service's own formats, by the JSON of their schemas. The build writes them: ajv needs
// 5 ms in a cold process to compile a format, and a start needs a dozen. Sources that run without a build
// have none, and compile each format for its first value.

import type { ValidateFunction } from 'ajv'

export const builtChecks: ReadonlyMap<string, ValidateFunction> = new Map()

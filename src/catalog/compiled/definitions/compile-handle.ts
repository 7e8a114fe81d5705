// Compiles the definition of a handle to a handle kind.

import type { HandleDefinition } from '../../../platform/author/define-handle.ts'
import { toDuration } from '../../../base/words.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { SchemaError } from '../../../platform/schema/json-schema.ts'
import { isStandardSchema, toJsonSchema } from '../../../platform/schema/standard-schema.ts'
import type { HandleKind } from '../../../platform/store/records/handle-kind.ts'
import type { ReportProblem } from '../problem.ts'
import { hasHandlers, hasShape } from './check-definition.ts'
import { compileSchema, type SchemaCompilers } from './compile-schema.ts'
import { handleShape } from './definition-shapes.ts'

const DEFAULT_MAX_BYTES = 65_536

/** Returns `undefined` when the definition is unusable. Every problem has then been reported. */
export function compileHandle (
  definition: HandleDefinition, compilers: SchemaCompilers, report: ReportProblem
): HandleKind | undefined {
  if (!hasShape(handleShape, definition, report)) return undefined
  const { kind, prefix, idleTtlMs, maxAgeMs, maxBytes = DEFAULT_MAX_BYTES, createdBy, migrate } = definition
  if (maxAgeMs !== undefined && maxAgeMs < idleTtlMs) {
    report('maxAgeMs', `must be at least idleTtlMs, ${idleTtlMs}, got ${maxAgeMs}`)
    return undefined
  }
  if (!hasHandlers({ migrate }, report)) return undefined
  const schema = compileSchema(definition.schema, 'input', compilers, (rule) => report('schema', rule))
  if (schema === undefined) return undefined
  const mayChangeValue = isStandardSchema(definition.schema) ||
    JSON.stringify(schema.schema).includes('"default"')
  const checkValue = schema.check
  const checkKept = acceptsItsOutput(definition.schema) ? checkValue : undefined
  const checks = { checkValue, checkKept, mayChangeValue, migrate }
  return { kind, prefix, idleTtlMs, maxAgeMs, maxBytes, createdBy, ...checks }
}

/** Whether a value may be checked again. A library cannot describe what its transforms return. */
function acceptsItsOutput (schema: object): boolean {
  if (!isStandardSchema(schema)) return true
  try {
    return isObject(toJsonSchema(schema, 'output'))
  } catch (error) {
    if (error instanceof SchemaError) return false
    throw error
  }
}

/** Writes the sentence for the model. It is part of the description of the tool that creates the handle. */
export function describeLifetime ({ kind, idleTtlMs, maxAgeMs }: HandleKind): string {
  const atMost = maxAgeMs === undefined ? '' : `, and for ${toDuration(maxAgeMs)} at most`
  return `Each ${kind} is kept for ${toDuration(idleTtlMs)} after its last use${atMost}.`
}

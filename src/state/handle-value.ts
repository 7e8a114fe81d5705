// A handle's value on its way into the store.

import { ToolError } from '../authoring/tool-error.ts'
import type { Verdict } from '../schema/check.ts'
import type { HandleKind } from './handle-kind.ts'
import { copyJson } from './json-copy.ts'
import { JsonValue } from './json-value.ts'

/**
 * Throws where the author's value is not what its schema promises, and a ToolError where it has grown too
 * large.
 */
export function checkValue (kind: HandleKind, given: unknown): JsonValue | Promise<JsonValue> {
  // What is checked is what will be read: the value as JSON has it. And a check may fill in defaults, which
  // are not the caller's.
  const verdict = kind.checkValue(toJson(kind.kind, given))
  return verdict instanceof Promise
    ? verdict.then((settled) => toChecked(kind, settled))
    : toChecked(kind, verdict)
}

function toChecked ({ kind, maxBytes, mayChangeValue }: HandleKind, verdict: Verdict): JsonValue {
  if (!verdict.ok) {
    throw new Error(`the value of a ${kind} does not match its schema: ${verdict.problems.join('; ')}`)
  }
  const value = new JsonValue(mayChangeValue ? toJson(kind, verdict.value) : verdict.value)
  if (value.isLongerThan(maxBytes)) {
    throw new ToolError(
      `This ${kind} would be too large: ${value.bytes.length} bytes, the limit is ${maxBytes}. Nothing was changed.`
    )
  }
  return value
}

function toJson (kind: string, value: unknown): unknown {
  const json = copyJson(value)
  if (json === undefined) throw new Error(`the value of a ${kind} is not a JSON value`)
  return json
}

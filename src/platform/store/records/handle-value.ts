// Checks a handle's value before it is stored, and when it is read.

import { ToolError } from '../../author/tool-error.ts'
import { applyTo } from '../../../base/apply-to.ts'
import type { Verdict } from '../../schema/check.ts'
import { findJsonLoss, isPlainJson } from '../../schema/json-form.ts'
import { otherRelease, type HandleKind } from './handle-kind.ts'
import { copyJson, JsonValue, readJson } from './json-value.ts'
import type { StateValue } from './state-store.ts'

/** Throws an Error if the value does not match the schema, and a ToolError if the value is too large. */
export function checkValue (kind: HandleKind, value: unknown): JsonValue | Promise<JsonValue> {
  // The check gets a JSON copy, because later reads return the JSON value. It may also fill in defaults,
  // which must not change the caller's object.
  return applyTo(kind.checkValue(toJson(kind.kind, value)), (verdict) => toChecked(kind, verdict))
}

/**
 * The kept value as a copy that the caller may change. Throws a ToolError if it does not match the schema and
 * the kind has no `migrate`, and an Error if what `migrate` returns does not match.
 */
export function readValue (kind: HandleKind, stored: StateValue): unknown {
  const value = readJson(stored)
  return kind.checkKept === undefined
    ? value
    : applyTo(kind.checkKept(value), (verdict) => toCurrent(kind, verdict, stored))
}

function toCurrent (kind: HandleKind, verdict: Verdict, stored: StateValue): unknown {
  if (verdict.ok) return verdict.value
  if (kind.migrate === undefined) throw otherRelease(kind, verdict.problems)
  return applyTo(checkValue(kind, kind.migrate(readJson(stored))), readJson)
}

function toChecked ({ kind, maxBytes, mayChangeValue }: HandleKind, verdict: Verdict): JsonValue {
  if (!verdict.ok) {
    throw new Error(`the value of a ${kind} does not match its schema: ${verdict.problems.join('; ')}`)
  }
  const value = new JsonValue(mayChangeValue ? toJson(kind, verdict.value) : verdict.value)
  if (value.isLongerThan(maxBytes)) {
    throw new ToolError(
      `This ${kind} would be too large: ${value.bytes.length} bytes, the limit is ${maxBytes}. ` +
      'Nothing was changed.'
    )
  }
  return value
}

function toJson (kind: string, value: unknown): unknown {
  const loss = isPlainJson(value) ? undefined : findJsonLoss(value)
  if (loss !== undefined) throw new Error(`the value of a ${kind} is not JSON: ${loss}`)
  return copyJson(value)
}

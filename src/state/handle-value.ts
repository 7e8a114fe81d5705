// A handle's value on its way into the store and out of it.

import { ToolError } from '../authoring/tool-error.ts'
import type { Check, Verdict } from '../schema/check.ts'

/** What handles need to know of their kind. */
export interface HandleKind {
  readonly kind: string
  readonly prefix: string
  readonly idleTtlMs: number
  readonly maxAgeMs: number | undefined
  readonly maxBytes: number
  readonly createdBy: string | undefined
  readonly checkValue: Check
  /** Whether the check may change what it accepts. */
  readonly mayChangeValue: boolean
}

/** What is kept of an author's value, and what will be read of it. */
export interface CheckedValue { readonly bytes: Buffer, readonly value: unknown }

/** Throws where the author's value is not what its schema promises, and a ToolError where it has grown too large. */
export function checkValue (kind: HandleKind, given: unknown): CheckedValue | Promise<CheckedValue> {
  // What is checked is what will be read: the value as JSON has it. And a check may fill in defaults, which are not the caller's.
  const json = stringify(kind.kind, given)
  const verdict = kind.checkValue(parse(json))
  return verdict instanceof Promise ? verdict.then((settled) => toChecked(kind, json, settled)) : toChecked(kind, json, verdict)
}

function toChecked ({ kind, maxBytes, mayChangeValue }: HandleKind, json: string, verdict: Verdict): CheckedValue {
  if (!verdict.ok) throw new Error(`the value of a ${kind} does not match its schema: ${verdict.problems.join('; ')}`)
  const { value } = verdict
  const bytes = Buffer.from(mayChangeValue ? stringify(kind, value) : json)
  if (bytes.length > maxBytes) throw new ToolError(`This ${kind} would be too large: ${bytes.length} bytes, the limit is ${maxBytes}. Nothing was changed.`)
  return { bytes, value: mayChangeValue ? readValue(bytes) : value }
}

export function readValue (bytes: Buffer): unknown {
  return parse(bytes.toString('utf8'))
}

function stringify (kind: string, value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new Error(`the value of a ${kind} is not a JSON value`)
  return json
}

function parse (json: string): unknown {
  return JSON.parse(json)
}

// Values of the body that a client mirrors into HTTP headers: their encoding, and their comparison.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding

import { isUtf8 } from 'node:buffer'
import { headerMismatch } from './errors.ts'

const SENTINEL = /^=\?base64\?(.*)\?=$/s
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
// RFC 9110 allows visible ASCII, space and tab in a field value.
const INVALID_CHARACTER = /[^\t\x20-\x7e]/
const DECIMAL = /^-?\d+(?:\.\d+)?$/

/**
 * Returns the text that a header value stands for. A value in the base64 sentinel is decoded; any other is
 * literal. Throws a header mismatch for a character that no header may hold, and for base64 that is not
 * strictly well-formed. Node's own decoder accepts malformed base64.
 */
export function decodeHeaderValue (name: string, value: string): string {
  if (INVALID_CHARACTER.test(value)) {
    throw headerMismatch(`${name} holds a character that a header value may not; use the base64 form`)
  }
  const trimmed = value.trim()
  const encoded = SENTINEL.exec(trimmed)?.[1]
  if (encoded === undefined) return trimmed
  if (!BASE64.test(encoded)) throw headerMismatch(`${name} holds malformed base64`)
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded || !isUtf8(bytes)) {
    throw headerMismatch(`${name} holds base64 that is not the canonical form of UTF-8 text`)
  }
  return bytes.toString('utf8')
}

type MirroredValue = string | number | boolean

/** A value of the body, and the header that must mirror it. */
export interface MirroredField {
  readonly header: string
  /** `undefined` when the body has null or no value there. The header must then be absent. */
  readonly value: MirroredValue | undefined
}

/** For headers without an encoding. Throws a header mismatch unless the header equals the body's value. */
export function checkLiteralHeader (header: string, value: string, received: string | undefined): void {
  if (received === undefined) throw headerMismatch(`${header} is missing; it must mirror the body`)
  if (received.trim() !== value) throw headerMismatch(`${header} does not match the body`)
}

/** Throws a header mismatch unless the decoded header equals the value of the body. */
export function checkMirroredField ({ header, value }: MirroredField, received: string | undefined): void {
  if (value === undefined) {
    if (received !== undefined) throw headerMismatch(`${header} is sent, but the body has no such value`)
    return
  }
  if (received === undefined) throw headerMismatch(`${header} is missing; it must mirror the body`)
  const text = decodeHeaderValue(header, received)
  if (!sameValue(text, value)) throw headerMismatch(`${header} does not match the body`)
}

function sameValue (text: string, value: MirroredValue): boolean {
  // The specification compares integers as numbers: 42.0 equals 42.
  if (typeof value === 'number') return DECIMAL.test(text) && Number(text) === value
  return text === String(value)
}

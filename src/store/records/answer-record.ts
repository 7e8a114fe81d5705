// The record of a call with a first answer, as bytes: a line with what is known of the call, as JSON, and the
// answer after it.

import { hash } from 'node:crypto'
import type { StateValue } from './state-store.ts'

/** The first line of a record. */
export interface Head {
  /** A hash of the arguments. */
  readonly args: string
  /** Random for each run of a call. */
  readonly mark: string
  /** The record of a run that was dropped expires at once. */
  readonly state: 'runs' | 'dropped' | 'ok' | 'error'
}

export function isAnswer ({ state }: Head): boolean {
  return state === 'ok' || state === 'error'
}

export function toHash (value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '', 'base64url')
}

export function toAnswerValue (head: Head, result = ''): StateValue {
  return { bytes: Buffer.from(`${JSON.stringify(head)}\n${result}`) }
}

export function readAnswerRecord (bytes: Buffer): { readonly head: Head, readonly result: string } {
  const text = bytes.toString()
  const end = text.indexOf('\n')
  return { head: JSON.parse(text.slice(0, end)), result: text.slice(end + 1) }
}

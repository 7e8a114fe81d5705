// The record of a call with a first answer, as bytes: a line with what is known of the call, as JSON, and the
// answer after it.

import { hash } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
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

/** Equal for values that are equal as JSON: the order of members does not matter. */
export function toHash (value: unknown): string {
  return hash('sha256', stringify(value) ?? '', 'base64url')
}

export function toAnswerValue (head: Head, result = ''): StateValue {
  return { bytes: Buffer.from(`${JSON.stringify(head)}\n${result}`) }
}

/** The head is `undefined` if another release wrote the record in a form that this one does not know. */
export function readAnswerRecord (
  bytes: Buffer
): { readonly head: Head | undefined, readonly result: string } {
  const text = bytes.toString()
  const end = text.indexOf('\n')
  return { head: readHead(text.slice(0, end)), result: text.slice(end + 1) }
}

function readHead (text: string): Head | undefined {
  try {
    const head: unknown = JSON.parse(text)
    return isHead(head) ? head : undefined
  } catch {
    return undefined
  }
}

function isHead (head: unknown): head is Head {
  return typeof head === 'object' && head !== null && 'args' in head && 'mark' in head && 'state' in head &&
    typeof head.args === 'string' && typeof head.mark === 'string' && typeof head.state === 'string'
}

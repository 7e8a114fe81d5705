// The results and the failures of steps, as JSON. A task keeps failures too: its handler may have caught one
// and gone on, and must come to it again when it runs again.

import { isToolError, ToolError } from '../../platform/author/tool-error.ts'
import { clip, toError } from '../../base/words.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'

/** The longest message of a failure that is kept. */
const MAX_MESSAGE_LENGTH = 1000

/** A result is an array of one, or of none if it is `undefined`. */
export function toResultJson (result: unknown): string {
  return result === undefined ? '[]' : JSON.stringify([result])
}

/** Writes the name and the message of an error: the handler gets them again. */
export function toFailureJson (error: unknown): string {
  const { name, message } = toError(error)
  return JSON.stringify({ name, message: clip(message, MAX_MESSAGE_LENGTH), isTool: isToolError(error) })
}

/** Tells failures from results. */
export const isFailureJson = (json: string): boolean => json.startsWith('{')

/** Returns the result of a step, or throws its failure. */
export function fromResultJson (json: string): unknown {
  const outcome: unknown = JSON.parse(json)
  if (Array.isArray(outcome)) return outcome[0]
  const { name, message, isTool } = isObject(outcome) ? outcome : {}
  if (isTool === true) throw new ToolError(String(message))
  throw Object.assign(new Error(String(message)), { name: String(name) })
}

const ATTEMPT = / \(attempt \d+\)$/

/** Names an attempt at a step, from 1: a handler may try a step again after its failure. */
export function toAttemptName (key: string, attempt: number): string {
  return attempt === 1 ? key : `${key} (attempt ${attempt})`
}

/** Whether the text is the name of a further attempt. Such a text is no key. */
export const isAttemptName = (text: string): boolean => ATTEMPT.test(text)

/** Returns the key of the step that the name of an attempt names. */
export const stepKeyOf = (name: string): string => name.replace(ATTEMPT, '')

/** Returns the result of the last attempt at a step. `undefined` if that has failed, or has not ended. */
export function findResult (results: { readonly [name: string]: string }, key: string): unknown {
  const last = findLastAttempt(results, key)
  return last === undefined || isFailureJson(last) ? undefined : fromResultJson(last)
}

/** Returns what is kept of the last attempt at a step. */
export function findLastAttempt<T> (attempts: { readonly [name: string]: T }, key: string): T | undefined {
  let last: T | undefined
  for (let attempt = 1; Object.hasOwn(attempts, toAttemptName(key, attempt)); attempt++) {
    last = attempts[toAttemptName(key, attempt)]
  }
  return last
}

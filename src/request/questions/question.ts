// One question of a handler: the input request for the client, and the reading of the response.

import type { ClientCapabilities } from '../../protocol/capabilities.ts'

export interface Question {
  /** The input request, `{ method, params }`, as JSON. */
  readonly json: string
  /** The capabilities that the client must have declared. */
  readonly requiredCapabilities: ClientCapabilities
  /** `undefined` for a response that does not fit the question. */
  read (response: unknown): Answer | undefined | Promise<Answer | undefined>
}

export interface Answer {
  /** The answer for the handler. */
  readonly value: unknown
  /** The response as JSON. In a later round the same question reads it to the same value. */
  readonly json: string
}

/** Reports one problem of a question. */
export type ReportQuestionProblem = (rule: string) => void

/** `undefined` when the question cannot be asked. Every problem has then been reported. */
export type ToQuestion = (
  params: { readonly [key: string]: unknown }, report: ReportQuestionProblem
) => Question | undefined

/** An answer whose value for the handler is the response itself. */
export function toUnchangedAnswer (value: unknown): Answer {
  return { value, json: JSON.stringify(value) }
}

export function toRequestJson (method: string, params: object): string {
  return JSON.stringify({ method, params })
}

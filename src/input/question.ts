// One question of a handler: what goes on the wire, and what becomes of the client's response.

import type { ClientCapabilities } from '../protocol/capabilities.ts'

export interface Question {
  /** The input request, `{ method, params }`, as JSON. */
  readonly json: string
  /** What the client must declare before it may be asked. */
  readonly requiredCapabilities: ClientCapabilities
  /** `undefined` for a response that does not fit the question. */
  read (response: unknown): Answer | undefined | Promise<Answer | undefined>
}

export interface Answer {
  /** As the handler gets it. */
  readonly value: unknown
  /** As JSON that the same question reads to the same value, in a later round. */
  readonly json: string
}

/** Notes one problem of the question at hand. */
export type ReportQuestionProblem = (rule: string) => void

/** `undefined` where the question cannot be asked; every problem has then been reported. */
export type ToQuestion = (
  params: { readonly [key: string]: unknown }, report: ReportQuestionProblem
) => Question | undefined

/** An answer that reaches the handler as it came. */
export function plainAnswer (value: unknown): Answer {
  return { value, json: JSON.stringify(value) }
}

export function toRequestJson (method: string, params: object): string {
  return JSON.stringify({ method, params })
}

// A question of a handler: the input request for the client, and the reading of the response.

import type { ClientCapabilities } from '../../platform/protocol/capabilities.ts'

/** The limit of nesting of a value that travels through the client. */
const MAX_DEPTH = 64

export interface Question {
  /** The input request, `{ method, params }`, as JSON. */
  readonly json: string
  /** The capabilities that the client must have declared. */
  readonly requiredCapabilities: ClientCapabilities
  /** Returns `undefined` if the response does not fit the question. */
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

/** Returns `undefined` after it has reported why the question cannot be asked. */
export type ToQuestion = (
  params: { readonly [key: string]: unknown }, report: ReportQuestionProblem
) => Question | undefined

/** Returns the answer whose value for the handler is the response itself. */
export function toUnchangedAnswer (value: unknown): Answer {
  return { value, json: JSON.stringify(value) }
}

export function toRequestJson (method: string, params: object): string {
  return JSON.stringify({ method, params })
}

/**
 * Returns the first part of the value that JSON would change, with its place: it could not travel through the
 * client. A member of an object may be undefined: JSON leaves it out.
 */
export function findJsonProblem (value: unknown, place: string, depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${place} is ${value}`
  if (typeof value === 'undefined') return `${place} is undefined`
  if (typeof value !== 'object') return `${place} is a ${typeof value}`
  if (depth === MAX_DEPTH) return `${place} is nested deeper than ${MAX_DEPTH} levels, or is part of itself`
  if (!Array.isArray(value) && !isPlain(value)) {
    return `${place} is an instance of ${value.constructor?.name ?? 'a class'}`
  }
  // Not `forEach`: it skips the holes of an array.
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    const memberPlace = typeof key === 'number' ? `${place}[${key}]` : `${place}.${key}`
    const problem = findJsonProblem(member, memberPlace, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Whether the value is an object literal or comes from JSON.parse, also of another realm. */
function isPlain (value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || (typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null)
}

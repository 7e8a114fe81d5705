// The kinds of handles, and the errors of handles, which the model reads.

import { HandleError } from '../../author/handles.ts'
import { isToolError, ToolError } from '../../author/tool-error.ts'
import { quote } from '../../../base/words.ts'
import type { Limit, ShareUsed } from '../../limits/limits.ts'
import type { Check } from '../../schema/check.ts'
import { StoreUnavailable } from './state-store.ts'

/** A compiled and checked handle definition. */
export interface HandleKind {
  /** Unique in the catalog. */
  readonly kind: string
  /** The start of every id, before an underscore. */
  readonly prefix: string
  readonly idleTtlMs: number
  readonly maxAgeMs: number | undefined
  readonly maxBytes: number
  /** The tool that creates a handle of this kind. */
  readonly createdBy: string | undefined
  /** What the model is told of one that does not exist. `It may have expired.` by default. */
  readonly goneAdvice?: string
  readonly checkValue: Check
  /** Checks a value that was kept. Absent if the schema transforms values: it refuses what it has made. */
  readonly checkKept?: Check | undefined
  /** Makes a value of this schema of one that does not match it. */
  readonly migrate?: ((old: unknown) => unknown) | undefined
  /** Whether the check may change the value, for example by filling in defaults. */
  readonly mayChangeValue: boolean
}

/**
 * The same error for unknown, expired and deleted handles, and for those of other owners: the caller must not
 * learn which it is.
 */
export function unknownHandle ({ kind, createdBy, goneAdvice }: HandleKind, id: unknown): HandleError {
  const advice = createdBy === undefined
    ? goneAdvice ?? 'It may have expired.'
    : `It may have expired; ${createdBy} makes a new one.`
  return new HandleError(`There is no ${kind} ${quote(String(id), 64)}. ${advice}`)
}

/** The value was written by a release whose schema was another. The cause is for the log. */
export function otherRelease ({ kind }: HandleKind, problems: readonly string[]): ToolError {
  const mismatch = `the kept value of a ${kind} does not match its schema: ${problems.join('; ')}`
  const cause = new Error(`${mismatch}; give defineHandle a function migrate`)
  const message = `This ${kind} was made by another release and cannot be read. Make a new one.`
  return new ToolError(message, { cause })
}

export function tooManyHandles ({ kind }: HandleKind, limit: Limit, cause?: ShareUsed): ToolError {
  const problem = limit.describe(cause === undefined ? 'principal' : 'network')
  return new ToolError(`No new ${kind} can be made. ${problem}`, cause && { cause })
}

export function tooManyWriters ({ kind }: HandleKind): ToolError {
  return new ToolError(`This ${kind} is being changed by too many at once. Nothing was changed; try again.`)
}

/** Turns an error of the store into a ToolError, and returns all other errors as they are. */
export function toHandleError ({ kind }: HandleKind, error: unknown): unknown {
  if (!(error instanceof StoreUnavailable)) return error
  const advice = 'Try again in a few seconds.'
  return new ToolError(`The ${kind} cannot be reached at the moment. ${advice}`, { cause: error })
}

/** Whether the store was away, also for an error of a handle: the same work may succeed later. */
export function isOutage (error: unknown): boolean {
  return error instanceof StoreUnavailable || (isToolError(error) && error.cause instanceof StoreUnavailable)
}

// The error of a call of an upstream.

import { ToolError } from './tool-error.ts'

/**
 * Why a call of an upstream has no answer.
 * - `timeout`: the answer was not there in time.
 * - `unreachable`: there was no connection, it was lost, or what came was no HTTP.
 * - `busy`: too many calls of the upstream run, of all callers or of this one.
 * - `unavailable`: the upstream has failed several times in a row, and is not asked for some seconds.
 * - `too_large`: the answer has more bytes than the definition allows.
 * - `wrong_type`: the answer has none of the media types that `accept` names.
 * - `redirected`: the upstream answered with a redirect that is not followed.
 * - `refused`: the host has an address that the definition does not allow.
 * - `credential`: the call could not say who calls.
 */
export type UpstreamErrorCode =
  'timeout' | 'unreachable' | 'busy' | 'unavailable' | 'too_large' | 'wrong_type' | 'redirected' | 'refused' |
  'credential'

/**
 * A call of an upstream has no answer, or no complete one. As a ToolError it becomes the result of the tool,
 * or the error of the prompt or resource, if the handler does not catch it: its message says to a model what
 * happened, and no cause. The log has the cause, under the id of the request.
 */
export class UpstreamError extends ToolError {
  readonly code: UpstreamErrorCode
  /** The name of the upstream. */
  readonly upstream: string

  constructor (code: UpstreamErrorCode, upstream: string, message: string) {
    super(message)
    this.name = 'UpstreamError'
    this.code = code
    this.upstream = upstream
  }
}

/** The same call may have an answer later. */
const PASSING: ReadonlySet<UpstreamErrorCode> = new Set(['timeout', 'unreachable', 'busy', 'unavailable'])

export function isUpstreamOutage (error: unknown): boolean {
  return error instanceof UpstreamError && PASSING.has(error.code)
}

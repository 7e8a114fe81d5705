// Observers: told of each request. The log is one; metrics, traces and an audit trail fit the same interface.

import type { Principal } from '../../platform/access/principal.ts'
import type { AuditRule } from '../../catalog/compiled/compiled-primitive.ts'
import type { ActsAs } from '../../catalog/compiled/upstreams/open-upstream.ts'
import type { Sender } from '../../platform/limits/holder.ts'
import { INTERNAL_ERROR, LimitReached, type ProtocolError } from '../../platform/protocol/errors.ts'
import { HandlerTimeout } from './lifetime.ts'

/** Why an HTTP request reached no method, and what its client sent: cut, and only printable characters. */
export interface RefusedRequest {
  readonly reason: string
  /** The address of the client. */
  readonly address: string | undefined
  readonly path: string
  readonly host: string | undefined
  readonly origin: string | undefined
}

/**
 * What a client gave to a primitive. Only an audit log may keep any of it, as the rule says. The log of
 * `trivet dev` shows it to its author.
 */
export interface GivenArguments {
  readonly rule: AuditRule
  readonly args: { readonly [name: string]: unknown } | undefined
}

/**
 * Why a call has no new result. The tool does not allow this caller or these arguments, or the caller does
 * not see what it names; a limit refused the call; the handler took too long; the client must answer a
 * question first, or its model must pass the question on; the call is a repetition and gets the first answer;
 * it became a task; it goes on, and the model was told how to continue it; its task sleeps; or the work of
 * its task is undone.
 */
export type SpecialAnswer = 'denied' | 'limited' | 'timed_out' | 'input_required' | 'relayed' | 'repeated' |
  'task' | 'goes_on' | 'sleeping' | 'undo'

/** The calls of one upstream. */
export interface UpstreamUse {
  readonly as: ActsAs
  readonly calls: number
  /** How many of them had no answer. */
  readonly failed: number
}

/** The facts of a message, or of an HTTP request without a message. */
export interface Observed {
  /** The id of the request in the service's log. */
  readonly requestId: string
  /** The method of the message, if the service has it. The HTTP method for a request without a message. */
  readonly method: string | undefined
  /** The key of the primitive. Taken from the catalog, never from the client's text. */
  readonly subject: string | undefined
  readonly principal: Principal | undefined
  /** The protocol revision. */
  readonly revision: string | undefined
  /** Whether `begin` was called. */
  readonly isBegun: boolean
  /** Whether the result says that the tool failed. */
  readonly isToolError: boolean
  /** Whether the arguments were repaired. */
  readonly isRepaired?: boolean
  readonly special?: SpecialAnswer | undefined
  /** Present once the primitive was found. */
  readonly callArguments?: GivenArguments | undefined
  /** The scopes that the primitive needs, if the caller was refused because it lacks some. */
  readonly neededScopes?: readonly string[] | undefined
  /** Which upstreams were called, by name. Absent if none was. */
  readonly upstreams?: ReadonlyMap<string, UpstreamUse> | undefined
  /** The id of the request's trace, if the request is traced. */
  readonly traceId?: string | undefined
  /** Present for an HTTP request that was refused. */
  readonly refused?: RefusedRequest | undefined
}

/** How a request ended. */
export interface Ending {
  readonly durationMs: number
  /** The HTTP status. `undefined` when there was no answer over HTTP. */
  readonly status: number | undefined
  /** The error in the answer. */
  readonly protocolError: ProtocolError | undefined
  /** The error that was thrown, when the answer is not a result. For the log, never for a client. */
  readonly error: unknown
  /** Whether the client left or cancelled before the answer. */
  readonly isCancelled: boolean
  /** The result as JSON. Absent for an error and for a stream. Only the log of `trivet dev` has any of it. */
  readonly result?: string | Buffer | undefined
}

/** Returns more fields of the line of a request in the log. */
export type DescribeCall = (observed: Observed, ending: Ending) => object

/** How a request ended, in one word. */
export type OutcomeWord = SpecialAnswer | 'ok' | 'tool_error' | 'invalid' | 'failed' | 'cancelled'

export function toOutcomeWord (
  { special, isToolError }: Observed, { isCancelled, protocolError, error }: Ending
): OutcomeWord {
  if (isCancelled) return 'cancelled'
  if (special !== undefined) return special
  if (error instanceof HandlerTimeout) return 'timed_out'
  if (protocolError !== undefined) return toErrorWord(protocolError)
  return isToolError ? 'tool_error' : 'ok'
}

function toErrorWord (error: ProtocolError): OutcomeWord {
  if (error instanceof LimitReached) return 'limited'
  if ([401, 403].includes(error.httpStatus)) return 'denied'
  return error.code === INTERNAL_ERROR || error.httpStatus >= 500 ? 'failed' : 'invalid'
}

/** Must not throw. */
export interface Observer {
  /** Called when a message was read, before it is served. */
  begin? (observed: Observed, sender: Sender): void
  /** Called when the answer is being sent. After a call of `begin`, `observed` is the same object. */
  end? (observed: Observed, ending: Ending): void
}

/** Several observers as one. */
export function joinObservers (observers: readonly Observer[]): Required<Observer> {
  const beginners = observers.filter((observer) => observer.begin !== undefined)
  const enders = observers.filter((observer) => observer.end !== undefined)
  return {
    begin (observed, sender) { for (const observer of beginners) observer.begin?.(observed, sender) },
    end (observed, ending) { for (const observer of enders) observer.end?.(observed, ending) }
  }
}

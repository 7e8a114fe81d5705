// Who is told of what the service does: the log today; metrics, traces and an audit trail by the same
// interface.

import type { Principal } from '../access/principal.ts'
import type { ProtocolError } from '../protocol/errors.ts'

/** What is told of a message, or of an HTTP request that carried none. */
export interface Observed {
  /** The id under which the log has it. */
  readonly requestId: string
  /** The method of the message, where the service has it; otherwise the HTTP method. */
  readonly method: string | undefined
  /** The key of the primitive that the request is about. Never what a client made up. */
  readonly subject: string | undefined
  readonly principal: Principal | undefined
  /** The protocol revision. */
  readonly revision: string | undefined
}

/** How it ended. */
export interface Ending {
  readonly durationMs: number
  /** The HTTP status, where there was an answer over HTTP. */
  readonly status: number | undefined
  /** The error that it was answered with. */
  readonly protocolError: ProtocolError | undefined
  /** What was thrown, where it was not answered with a result. For the log, never for a client. */
  readonly error: unknown
  /** Whether the client left or cancelled before the answer. */
  readonly isCancelled: boolean
}

/** Must not throw. An observer that has nothing to do at one of these points leaves it out. */
export interface Observer {
  /** A message was read, and is about to be served. */
  begin? (observed: Observed): void
  /** Its answer is on its way. `observed` is the object that `begin` was called with, if it was called. */
  end? (observed: Observed, ending: Ending): void
}

/** All of them as one. */
export function joinObservers (observers: readonly Observer[]): Required<Observer> {
  const beginning = observers.filter((one) => one.begin !== undefined)
  const ended = observers.filter((one) => one.end !== undefined)
  return {
    begin (observed) { for (const observer of beginning) observer.begin?.(observed) },
    end (observed, ending) { for (const observer of ended) observer.end?.(observed, ending) }
  }
}

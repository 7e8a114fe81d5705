// The callers of legacy requests: SessionCaller for the requests of a session, HandshakeCaller for
// `initialize`.

import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { readProgressToken, type Envelope } from '../../../platform/protocol/envelope.ts'
import { isObject, type Params } from '../../../platform/protocol/json-rpc.ts'
import { hasElicitation, hasElicitationModes } from '../../../platform/protocol/revisions.ts'
import { HttpCaller, type Caller, type RequestSource } from '../../../request/pipeline/caller.ts'
import type { Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { Session, Negotiated } from './session.ts'

/** Sends requests of the service to the client that sent the request being served. */
export interface ClientRequester {
  /**
   * Resolves to the client's result. Rejects with a ClientRefusal, or with the reason why the lifetime was
   * stopped.
   */
  request (method: string, params: Params, lifetime: Lifetime): Promise<unknown>
}

export class SessionCaller extends HttpCaller {
  readonly session: Session
  readonly requester: ClientRequester

  /** Throws invalid params for a progress token that is neither a string nor an integer. */
  constructor (
    source: RequestSource, session: Session, params: Params | undefined, requester: ClientRequester
  ) {
    super(source, toEnvelope(session, isObject(params?._meta) ? params._meta.progressToken : undefined))
    this.session = session
    this.requester = requester
  }

  get sessionId (): string { return this.session.id }
}

/**
 * The envelope that a modern client would send with the request. `debug` passes every log message: the outlet
 * filters by the level that the session has set.
 */
function toEnvelope (
  { revision, clientCapabilities, clientInfo }: Negotiated, progressToken?: unknown
): Envelope {
  return {
    revision,
    clientCapabilities: toAskable(revision, clientCapabilities),
    clientInfo,
    logLevel: 'debug',
    progressToken: readProgressToken(progressToken)
  }
}

/** Returns what the revision can ask of the client, which may have declared more. */
function toAskable (revision: string, capabilities: ClientCapabilities): ClientCapabilities {
  const { elicitation, ...members } = capabilities
  if (elicitation === undefined || hasElicitationModes(revision)) return capabilities
  return hasElicitation(revision) ? { ...members, elicitation: {} } : members
}

/** The session of a request. Throws a TypeError for a method that was called outside a session. */
export function sessionOf ({ caller }: Pick<RequestContext, 'caller'>): Session {
  return sessionCallerOf(caller).session
}

export function sessionCallerOf (caller: Caller): SessionCaller {
  if (!(caller instanceof SessionCaller)) throw new TypeError('a request of a session was expected')
  return caller
}

export class HandshakeCaller extends HttpCaller {
  /** Called by `initialize` with the outcome of the negotiation. */
  readonly onNegotiated: (negotiated: Negotiated) => void

  constructor (source: RequestSource, revision: string, onNegotiated: (negotiated: Negotiated) => void) {
    super(source, toEnvelope({ revision, clientCapabilities: {}, clientInfo: undefined }))
    this.onNegotiated = onNegotiated
  }
}

// The callers of legacy requests: SessionCaller for the requests of a session, SessionlessCaller for those
// without one, HandshakeCaller for `initialize`.

import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { readProgressToken, type Envelope } from '../../../platform/protocol/envelope.ts'
import { invalidRequest } from '../../../platform/protocol/errors.ts'
import { isObject, type Params } from '../../../platform/protocol/json-rpc.ts'
import type { LogLevel } from '../../../platform/protocol/log-levels.ts'
import { hasElicitation, hasElicitationModes } from '../../../platform/protocol/revisions.ts'
import { HttpCaller, type RequestSource } from '../../../request/pipeline/caller.ts'
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

/** The level of a client that has not called `logging/setLevel`. */
export const DEFAULT_LEVEL: LogLevel = 'warning'

export class SessionCaller extends HttpCaller {
  readonly session: Session
  /** `undefined` if the answer cannot be a stream, which has the questions. */
  readonly requester: ClientRequester | undefined

  /** Throws invalid params for a progress token that is neither a string nor an integer. */
  constructor (
    source: RequestSource, session: Session, params: Params | undefined,
    requester: ClientRequester | undefined
  ) {
    const negotiated = requester === undefined ? { ...session, clientCapabilities: {} } : session
    super(source, toEnvelope(negotiated, params))
    this.session = session
    this.requester = requester
  }

  get sessionId (): string { return this.session.id }
}

/** The caller of a request without a session. Nothing is known of its client, so it cannot be asked. */
export class SessionlessCaller extends HttpCaller {
  /** Throws invalid params for a progress token that is neither a string nor an integer. */
  constructor (source: RequestSource, revision: string, params: Params | undefined) {
    super(source, toEnvelope({ ...UNKNOWN_CLIENT, revision }, params, DEFAULT_LEVEL))
  }
}

const UNKNOWN_CLIENT = { clientCapabilities: {}, clientInfo: undefined }

/**
 * The envelope that a modern client would send with the request.
 * @param logLevel `debug` passes every log message: the outlet filters by the level that the session has set.
 */
function toEnvelope (
  { revision, clientCapabilities, clientInfo }: Negotiated, params?: Params, logLevel: LogLevel = 'debug'
): Envelope {
  return {
    revision,
    clientCapabilities: toAskable(revision, clientCapabilities),
    clientInfo,
    logLevel,
    progressToken: readProgressToken(isObject(params?._meta) ? params._meta.progressToken : undefined)
  }
}

/** Returns what the revision can ask of the client, which may have declared more. */
function toAskable (revision: string, capabilities: ClientCapabilities): ClientCapabilities {
  const { elicitation, ...members } = capabilities
  if (elicitation === undefined || hasElicitationModes(revision)) return capabilities
  return hasElicitation(revision) ? { ...members, elicitation: {} } : members
}

/** The session of a request. Throws an invalid request for one that came without a session. */
export function sessionOf ({ caller }: Pick<RequestContext, 'caller'>): Session {
  if (!(caller instanceof SessionCaller)) throw sessionRequired()
  return caller.session
}

export const sessionRequired = () => invalidRequest(
  'this needs a session: send initialize first, and its Mcp-Session-Id with every later request'
)

export class HandshakeCaller extends HttpCaller {
  /** Called by `initialize` with the outcome of the negotiation. */
  readonly onNegotiated: (negotiated: Negotiated) => void

  constructor (source: RequestSource, revision: string, onNegotiated: (negotiated: Negotiated) => void) {
    super(source, toEnvelope({ ...UNKNOWN_CLIENT, revision }))
    this.onNegotiated = onNegotiated
  }
}

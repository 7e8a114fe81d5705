// Who sends the requests of a session, and who sends the one that begins it.

import type { Principal } from '../access/principal.ts'
import type { Caller, RequestLog } from '../dispatch/caller.ts'
import type { Lifetime } from '../dispatch/lifetime.ts'
import type { RequestContext } from '../dispatch/request-context.ts'
import { readProgressToken, type Envelope } from '../protocol/envelope.ts'
import { isObject, type Params } from '../protocol/json-rpc.ts'
import type { Session, Settled } from './session.ts'

/** What a transport knows of a request. */
export interface RequestSource {
  readonly principal: Principal
  readonly id: string
  readonly log: RequestLog
}

/** How the service asks the client of a request, and gets its answer. */
export interface ClientLine {
  /**
   * Resolves to the client's result. Rejects with a ClientRefusal, or with why nothing is waited for any
   * more.
   */
  request (method: string, params: Params, lifetime: Lifetime): Promise<unknown>
}

class LegacyCaller implements Caller {
  readonly principal: Principal
  readonly envelope: Envelope
  readonly requestId: string
  readonly log: RequestLog

  constructor ({ principal, id, log }: RequestSource, envelope: Envelope) {
    this.principal = principal
    this.envelope = envelope
    this.requestId = id
    this.log = log
  }
}

export class SessionCaller extends LegacyCaller {
  readonly session: Session
  readonly line: ClientLine

  /** Throws invalid params for a progress token that is none. */
  constructor (source: RequestSource, session: Session, params: Params | undefined, line: ClientLine) {
    super(source, toEnvelope(session, isObject(params?._meta) ? params._meta.progressToken : undefined))
    this.session = session
    this.line = line
  }
}

/**
 * What the current era says with each request. Which log messages go out is decided later: only the session
 * knows.
 */
function toEnvelope (
  { revision, clientCapabilities, clientInfo }: Settled, progressToken?: unknown
): Envelope {
  return {
    revision,
    clientCapabilities,
    clientInfo,
    logLevel: 'debug',
    progressToken: readProgressToken(progressToken)
  }
}

/** For methods that only sessions have. */
export function sessionOf ({ caller }: Pick<RequestContext, 'caller'>): Session {
  return sessionCallerOf(caller).session
}

export function sessionCallerOf (caller: Caller): SessionCaller {
  if (!(caller instanceof SessionCaller)) throw new TypeError('a request of a session was expected')
  return caller
}

export class HandshakeCaller extends LegacyCaller {
  /** Takes what the handshake settled. */
  readonly settle: (settled: Settled) => void

  constructor (source: RequestSource, revision: string, settle: (settled: Settled) => void) {
    super(source, toEnvelope({ revision, clientCapabilities: {}, clientInfo: undefined }))
    this.settle = settle
  }
}

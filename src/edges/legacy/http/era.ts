// The HTTP adapter of the legacy era: a handshake begins a session, and further requests belong to it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { quote } from '../../../base/words.ts'
import { checkAcceptStream, readAccept } from '../../http/accept.ts'
import type { Era } from '../../http/era.ts'
import { openEventStream } from '../../http/event-stream.ts'
import { ModernOutlet } from '../../http/modern/outlet.ts'
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '../../../platform/protocol/envelope.ts'
import { invalidRequest, sessionNotFound, type ProtocolError } from '../../../platform/protocol/errors.ts'
import { isObject, isRequest, isResponse, readMessage } from '../../../platform/protocol/json-rpc.ts'
import { CURRENT_REVISION, isLegacyRevision, negotiate } from '../../../platform/protocol/revisions.ts'
import { readEventId } from '../sessions/call-streams.ts'
import type { EndedSessions } from '../sessions/ended-sessions.ts'
import { HandshakeCaller, SessionlessCaller, sessionRequired } from '../sessions/session-caller.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { toLegacyError } from './outlet.ts'
import { createLegacyPost, type LegacyPostDependencies } from './post.ts'
import type { ResumedStreams } from './resumed-streams.ts'
import type { SessionStreams } from './session-streams.ts'

const SESSION_HEADER = 'mcp-session-id'
const VERSION_HEADER = 'mcp-protocol-version'
/**
 * The revision of a request without a session and without a version.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
 */
const ASSUMED_REVISION = '2025-03-26'

interface LegacyEraDependencies extends LegacyPostDependencies {
  readonly sessions: Sessions
  readonly endedSessions: EndedSessions
  readonly sessionStreams: SessionStreams
  readonly resumedStreams: ResumedStreams
  /** Returns a promise if the catalog is not in the form of the revision yet. */
  prepare (revision: string): Promise<void> | undefined
  close (): Promise<void>
}

/** A client that leaves stops its request: it has no session in which it could read the answer. */
class SessionlessOutlet extends ModernOutlet {
  override fail (error: ProtocolError): void { super.fail(toLegacyError(error)) }
}

export function createLegacyEra (dependencies: LegacyEraDependencies): Era {
  const {
    sessions, endedSessions, settings, pipeline, replies, sessionStreams, resumedStreams, prepare, close
  } = dependencies
  const post = createLegacyPost(dependencies)

  /**
   * Serves `initialize`. The answer's header has the new session.
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
   */
  function begin (request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    const takesStream = readAccept(request.headers.accept)
    const message = readMessage(request.body)
    if (!isRequest(message)) throw invalidRequest('initialize is a request: it has an id')
    // The method refuses a version that is not a string.
    const version = message.params?.protocolVersion
    const revision = negotiate(typeof version === 'string' ? version : '')
    const caller = new HandshakeCaller(request, revision, (negotiated) => {
      reply.header(SESSION_HEADER, sessions.create(negotiated, request))
    })
    // LegacyOutlet needs a session, which does not exist yet. The JSON of the answer is the same.
    const outlet = new ModernOutlet(reply, message.id, dependencies, takesStream)
    const serveNow = () => pipeline.serve(message, caller, outlet)
    return prepare(revision)?.then(serveNow) ?? serveNow()
  }

  /** Serves a POST of a session, when the catalog has the form of its revision. */
  async function postLater (preparing: Promise<void>, request: FastifyRequest, reply: FastifyReply) {
    await preparing
    // A call can be cancelled from the turn on that follows its begin.
    if (isNotification(request.body)) await new Promise(setImmediate)
    // It may have ended meanwhile.
    post(openSession(sessions, request), request, reply)
  }

  /**
   * Serves the session's stream of change notifications or, with the Last-Event-ID of a call's stream, the
   * rest of that stream.
   */
  async function listen (session: Session, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { accept, 'last-event-id': header } = request.headers
    checkAcceptStream(accept)
    const lastEventId = typeof header === 'string' ? header : undefined
    const position = lastEventId === undefined ? undefined : readEventId(lastEventId, session)
    const stream = position === undefined
      ? await sessionStreams.open(session, request, lastEventId)
      : await resumedStreams.open(session, request, position)
    stream.onClose((isComplete) => replies.end(request, reply, { isCancelled: !isComplete }))
    openEventStream(reply, stream)
  }

  async function end (session: Session, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await endedSessions.add(session)
    await settings.delete(session)
    reply.code(204).send()
    replies.end(request, reply)
  }

  /**
   * Serves a POST without a session: some clients do not send the session id that `initialize` gave them.
   * What needs no session is answered, and nothing is kept.
   */
  function postSessionless (revision: string, request: FastifyRequest, reply: FastifyReply): void {
    const { body } = request
    const takesStream = readAccept(request.headers.accept)
    if (Array.isArray(body) || (isObject(body) && isResponse(body))) throw sessionRequired()
    const message = readMessage(body)
    if (!isRequest(message)) return replies.accept(request, reply)
    const caller = new SessionlessCaller(request, revision, message.params)
    pipeline.serve(message, caller, new SessionlessOutlet(reply, message.id, dependencies, takesStream))
  }

  function serve (request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    if (request.method === 'POST' && isHandshake(request.body)) return begin(request, reply)
    const { [SESSION_HEADER]: token, [VERSION_HEADER]: version } = request.headers
    if (token === undefined) {
      const revision = typeof version === 'string' ? version : ASSUMED_REVISION
      const serveNow = () => postSessionless(revision, request, reply)
      return prepare(revision)?.then(serveNow) ?? serveNow()
    }
    const session = openSession(sessions, request)
    switch (request.method) {
      case 'POST': {
        const preparing = prepare(session.revision)
        return preparing === undefined ? post(session, request, reply) : postLater(preparing, request, reply)
      }
      case 'GET': return listen(session, request, reply)
      default: return end(session, request, reply)
    }
  }

  return {
    methods: ['GET', 'POST', 'DELETE'],
    mayServe: isLegacy,
    serve (request, reply) {
      try {
        serve(request, reply)?.catch((error: unknown) => replies.refuse(error, request, reply))
      } catch (error) {
        replies.refuse(error, request, reply)
      }
    },
    // The streams of sessions are subscriptions: app.ts ends all subscriptions together.
    endStreams: () => resumedStreams.end(),
    close
  }
}

/**
 * Whether a request belongs to the legacy era. A POST that names the current revision in its header or in its
 * body belongs to the modern era. A POST without a session that names an unknown revision does too.
 */
function isLegacy ({ method, headers, body }: FastifyRequest): boolean {
  const hasSession = headers[SESSION_HEADER] !== undefined
  if (method !== 'POST') return hasSession
  const version = headers[VERSION_HEADER]
  if (version === CURRENT_REVISION || hasEnvelope(body)) return false
  if (hasSession || isHandshake(body)) return true
  // A notification without a version header may be of either era. The modern era accepts it with 202.
  if (version === undefined) return !isObject(body) || 'id' in body
  return typeof version === 'string' && isLegacyRevision(version)
}

function isNotification (body: unknown): boolean {
  return isObject(body) && !('id' in body)
}

function isHandshake (body: unknown): boolean {
  return isObject(body) && body.method === 'initialize'
}

/** Opens the session that a request names. Throws a ProtocolError if that is not valid. */
function openSession (sessions: Sessions, { headers, principal }: FastifyRequest): Session {
  const token = headers[SESSION_HEADER]
  const session = typeof token === 'string' ? sessions.open(token, principal) : undefined
  if (session === undefined) throw sessionNotFound()
  checkVersion(headers)
  return session
}

function hasEnvelope (body: unknown): boolean {
  if (!isObject(body) || !isObject(body.params)) return false
  const { _meta: meta } = body.params
  return isObject(meta) && (META_PROTOCOL_VERSION in meta || META_CLIENT_CAPABILITIES in meta)
}

/** The header only has to name a legacy revision: the session's own revision is used in any case. */
function checkVersion (headers: IncomingHttpHeaders): void {
  const version = headers[VERSION_HEADER]
  if (version === undefined || (typeof version === 'string' && isLegacyRevision(version))) return
  throw invalidRequest(
    `MCP-Protocol-Version ${quote(String(version), 50)} is not one that a session can have`
  )
}

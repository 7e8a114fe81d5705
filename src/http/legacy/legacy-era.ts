// The endpoint as clients of earlier revisions use it: a handshake, and then a session.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EndedSessions } from '../../legacy/ended-sessions.ts'
import type { Session } from '../../legacy/session.ts'
import type { Sessions } from '../../legacy/sessions.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import { invalidRequest, sessionNotFound } from '../../protocol/errors.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import { isLegacyRevision } from '../../protocol/legacy-revisions.ts'
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '../../protocol/meta-keys.ts'
import { CURRENT_REVISION } from '../../protocol/revisions.ts'
import type { OtherEra } from '../other-era.ts'
import { answerFailure } from './failures.ts'
import { SESSION_HEADER } from './session-header.ts'

export interface LegacyEraParts {
  readonly sessions: Sessions
  readonly ended: EndedSessions
  readonly settings: SessionSettings
  /** Makes a session. */
  handshake (request: FastifyRequest, reply: FastifyReply): void
  /** A POST of a session. */
  post (session: Session, request: FastifyRequest, reply: FastifyReply): void
  /** A GET of a session: a stream. */
  listen (session: Session, request: FastifyRequest, reply: FastifyReply): Promise<void>
  endStreams (): void
  close (): Promise<void>
}

export function createLegacyEra ({ sessions, ended, settings, handshake, post, listen, endStreams, close }: LegacyEraParts): OtherEra {
  function openSession ({ headers, principal }: FastifyRequest): Session {
    const token = headers[SESSION_HEADER]
    if (token === undefined) throw invalidRequest('the Mcp-Session-Id header is missing: send initialize first, and its Mcp-Session-Id with every later request')
    const session = typeof token === 'string' ? sessions.open(token, principal) : undefined
    if (session === undefined) throw sessionNotFound()
    checkVersion(headers)
    return session
  }

  async function end (session: Session, reply: FastifyReply): Promise<void> {
    await ended.add(session)
    await settings.delete(session)
    reply.code(204).send()
  }

  function serve (request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    if (request.method === 'POST' && isHandshake(request.body)) return handshake(request, reply)
    const session = openSession(request)
    switch (request.method) {
      case 'POST': return post(session, request, reply)
      case 'GET': return listen(session, request, reply)
      default: return end(session, reply)
    }
  }

  return {
    takes: ({ method, headers, body }) => method === 'POST' ? isLegacyPost(body, headers) : headers[SESSION_HEADER] !== undefined,
    serve (request, reply) {
      try {
        serve(request, reply)?.catch((error: unknown) => answerFailure(error, request, reply))
      } catch (error) {
        answerFailure(error, request, reply)
      }
    },
    endStreams,
    close
  }
}

/** What names the current revision, in its header or in its body, is of the current era, and so is whatever names an unknown one. */
function isLegacyPost (body: unknown, headers: IncomingHttpHeaders): boolean {
  const version = headers['mcp-protocol-version']
  if (version === CURRENT_REVISION || hasEnvelope(body)) return false
  if (headers[SESSION_HEADER] !== undefined || isHandshake(body)) return true
  // A notification with no header at all says nothing of its era, and asks for nothing.
  if (version === undefined) return !isObject(body) || 'id' in body
  return typeof version === 'string' && isLegacyRevision(version)
}

function hasEnvelope (body: unknown): boolean {
  if (!isObject(body) || !isObject(body.params)) return false
  const { _meta: meta } = body.params
  return isObject(meta) && (META_PROTOCOL_VERSION in meta || META_CLIENT_CAPABILITIES in meta)
}

function isHandshake (body: unknown): boolean {
  return isObject(body) && body.method === 'initialize'
}

/** The session knows its revision; a header that names another one of its era changes nothing. */
function checkVersion (headers: IncomingHttpHeaders): void {
  const version = headers['mcp-protocol-version']
  if (version === undefined || (typeof version === 'string' && isLegacyRevision(version))) return
  throw invalidRequest(`MCP-Protocol-Version ${JSON.stringify(String(version).slice(0, 50))} is not one that a session can have`)
}

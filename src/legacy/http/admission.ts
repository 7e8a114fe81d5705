// The checks before a legacy request is served: its era, its session, and its headers.

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { invalidRequest, sessionNotFound } from '../../protocol/errors.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import { CURRENT_REVISION, isLegacyRevision } from '../../protocol/revisions.ts'
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '../../protocol/envelope.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'

export const SESSION_HEADER = 'mcp-session-id'

/**
 * Whether a request belongs to the legacy era. A POST that names the current revision in its header or in its
 * body belongs to the modern era. A POST without a session that names an unknown revision does too.
 */
export function isLegacy (
  { method, headers, body }: Pick<FastifyRequest, 'method' | 'headers' | 'body'>
): boolean {
  const hasSession = headers[SESSION_HEADER] !== undefined
  if (method !== 'POST') return hasSession
  const version = headers['mcp-protocol-version']
  if (version === CURRENT_REVISION || hasEnvelope(body)) return false
  if (hasSession || isHandshake(body)) return true
  // A notification without a version header may be of either era. The modern era accepts it with 202.
  if (version === undefined) return !isObject(body) || 'id' in body
  return typeof version === 'string' && isLegacyRevision(version)
}

export function isHandshake (body: unknown): boolean {
  return isObject(body) && body.method === 'initialize'
}

/** Opens the session that a request names. Throws a ProtocolError if it names none that is valid. */
export function openSession (sessions: Sessions, { headers, principal }: FastifyRequest): Session {
  const token = headers[SESSION_HEADER]
  if (token === undefined) {
    throw invalidRequest(
      'the Mcp-Session-Id header is missing: send initialize first, and its Mcp-Session-Id with every ' +
        'later request'
    )
  }
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
  const version = headers['mcp-protocol-version']
  if (version === undefined || (typeof version === 'string' && isLegacyRevision(version))) return
  throw invalidRequest(
    `MCP-Protocol-Version ${JSON.stringify(String(version).slice(0, 50))} is not one that a session can have`
  )
}

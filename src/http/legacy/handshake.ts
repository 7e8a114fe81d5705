// The first request of a client of an earlier revision.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Settled, Sessions } from '../../legacy/sessions.ts'
import type { Snapshot } from '../../catalog/snapshot.ts'
import { invalidRequest } from '../../protocol/errors.ts'
import { isRequest, readMessage, toErrorResponse, toResultResponse } from '../../protocol/json-rpc.ts'
import { toLegacyError } from './failures.ts'
import { SESSION_HEADER } from './session-header.ts'

export interface HandshakeParts {
  readonly catalog: Catalog
  readonly sessions: Sessions
  /** Throws invalid params. */
  initialize (params: unknown, snapshot: Snapshot): { readonly settled: Settled, readonly result: string }
}

export function createHandshake ({ catalog, sessions, initialize }: HandshakeParts): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    const message = readMessage(request.body)
    if (!isRequest(message)) throw invalidRequest('initialize is a request: it has an id')
    request.mcp.method = message.method
    reply.header('content-type', 'application/json')
    try {
      const { settled, result } = initialize(message.params, catalog.current)
      reply.header(SESSION_HEADER, sessions.create(settled, request.principal)).send(toResultResponse(message.id, result))
    } catch (error) {
      reply.send(toErrorResponse(message.id, toLegacyError(error, request)))
    }
  }
}

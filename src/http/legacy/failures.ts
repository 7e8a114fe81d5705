// Failures as earlier revisions have them.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { toProtocolError } from '../../dispatch/failures.ts'
import { ProtocolError, ResourceNotFound } from '../../protocol/errors.ts'
import { toErrorResponse, type RequestId } from '../../protocol/json-rpc.ts'

const RESOURCE_NOT_FOUND = -32002

/** A failure of a method, which is noted in the log. */
export function toLegacyError (error: unknown, request: FastifyRequest): ProtocolError {
  const { mcp, log } = request
  const failure = toProtocolError(error)
  mcp.errorCode = failure.code
  if (failure.code === -32603) log.error({ err: error, method: mcp.method, name: mcp.context?.subject }, 'request failed')
  return failure instanceof ResourceNotFound ? new ProtocolError(RESOURCE_NOT_FOUND, failure.message, { data: failure.data }) : failure
}

/** A failure of the request as a whole: its HTTP status says so. */
export function answerFailure (error: unknown, request: FastifyRequest, reply: FastifyReply, id?: RequestId): void {
  const failure = toLegacyError(error, request)
  const status = failure.code === -32603 ? 500 : failure.httpStatus
  if (status === 503) reply.header('retry-after', '5')
  reply.code(status).header('content-type', 'application/json').send(toErrorResponse(id, failure))
}

// Failures as earlier revisions have them.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { toProtocolError } from '../../dispatch/failures.ts'
import { Unanswered } from '../../legacy/live-input-round.ts'
import { ProtocolError, ResourceNotFound } from '../../protocol/errors.ts'
import { readRequestId, toErrorResponse } from '../../protocol/json-rpc.ts'

const RESOURCE_NOT_FOUND = -32002
/** As clients answer what they have not declared. */
const UNANSWERED = -32600

/** A failure of a method, which is noted in the log. */
export function toLegacyError (error: unknown, request: FastifyRequest): ProtocolError {
  const { mcp, log } = request
  const failure = error instanceof Unanswered ? new ProtocolError(UNANSWERED, error.message) : toProtocolError(error)
  mcp.errorCode = failure.code
  if (failure.code === -32603) log.error({ err: error, method: mcp.method, name: mcp.context?.subject }, 'request failed')
  else if (failure.cause !== undefined) log.warn({ err: failure.cause, method: mcp.method, name: mcp.context?.subject }, 'request refused')
  return failure instanceof ResourceNotFound ? new ProtocolError(RESOURCE_NOT_FOUND, failure.message, { data: failure.data }) : failure
}

/** A failure of the request as a whole: its HTTP status says so. */
export function answerFailure (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = toLegacyError(error, request)
  const status = failure.code === -32603 ? 500 : failure.httpStatus
  if (status === 503) reply.header('retry-after', '5')
  if (status === 405) reply.header('allow', 'POST')
  reply.code(status).header('content-type', 'application/json').send(toErrorResponse(readRequestId(request.body), failure))
}

// What the endpoint answers by itself, without a method: with an error where it refuses a request, or with
// nothing.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Ending, Observer } from '../dispatch/observer.ts'
import { toProtocolError } from '../dispatch/to-protocol-error.ts'
import type { ProtocolError } from '../protocol/errors.ts'
import { readRequestId, toErrorResponse, type RequestId } from '../protocol/json-rpc.ts'

const INTERNAL_ERROR = -32603
const UNAVAILABLE = 503

/** Writes an error as the answer to an HTTP request. */
export function sendError (
  reply: FastifyReply, id: RequestId | undefined, error: ProtocolError, status = error.httpStatus
): void {
  if (status === UNAVAILABLE) reply.header('retry-after', '5')
  if (status === 405) reply.header('allow', 'POST')
  reply.code(status).header('content-type', 'application/json').send(toErrorResponse(id, error))
}

/** Tells observers of HTTP requests that no method answers. */
export interface Replies {
  /**
   * Refuses the request as a whole: the HTTP status says so.
   * @param method of the message in it, where that has been read and the service has the method.
   */
  refuse (error: unknown, request: FastifyRequest, reply: FastifyReply, method?: string): void
  /** Takes a message that has no answer. */
  accept (request: FastifyRequest, reply: FastifyReply): void
  /** To be called when the request is over, however it was answered. */
  conclude (request: FastifyRequest, reply: FastifyReply, ending?: Pick<Ending, 'isCancelled'>): void
}

export function createReplies (observer: Required<Observer>): Replies {
  function end (
    { id, principal }: FastifyRequest, reply: FastifyReply, method: string, ending?: Partial<Ending>
  ): void {
    observer.end({ requestId: id, method, principal, subject: undefined, revision: undefined }, {
      durationMs: reply.elapsedTime,
      status: reply
        .statusCode,
      protocolError: undefined,
      error: undefined,
      isCancelled: false,
      ...ending
    })
  }

  return {
    refuse (error, request, reply, method = request.method) {
      const failure = toProtocolError(error)
      // No JSON-RPC answer carries these two: they are failures of the HTTP request.
      const status =
        failure.code === INTERNAL_ERROR
          ? 500
          : failure.code === UNAVAILABLE
            ? UNAVAILABLE
            : failure
              .httpStatus
      sendError(reply, readRequestId(request.body), failure, status)
      end(request, reply, method, { protocolError: failure, error })
    },
    accept (request, reply) {
      reply.code(202).send()
      end(request, reply, request.method)
    },
    conclude (request, reply, ending) {
      end(request, reply, request.method, ending)
    }
  }
}

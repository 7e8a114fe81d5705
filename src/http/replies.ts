// Answers to HTTP requests that reach no method: an error for a refused request, 202 for a message that has
// no answer.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Ending, Observer, RefusedRequest } from '../dispatch/observer.ts'
import { toProtocolError } from '../dispatch/to-protocol-error.ts'
import { InsufficientScope, LimitReached, type ProtocolError } from '../protocol/errors.ts'
import { readRequestId, toErrorResponse, type RequestId } from '../protocol/json-rpc.ts'
import { toPrintable } from './client-text.ts'

const INTERNAL_ERROR_CODE = -32603
const UNAVAILABLE_CODE = 503

/** Writes an error as the answer to an HTTP request. */
export function sendError (
  reply: FastifyReply, id: RequestId | undefined, error: ProtocolError, status = error.httpStatus
): void {
  if (error instanceof LimitReached && error.retryAfterSeconds !== undefined) {
    reply.header('retry-after', error.retryAfterSeconds)
  } else if (status === 503) reply.header('retry-after', '5')
  if (status === 405) reply.header('allow', 'POST')
  if (error instanceof InsufficientScope) {
    const { server: { challenges }, request: { principal } } = reply
    const challenge = challenges.insufficientScope(error.requiredScopes, principal)
    reply.header('www-authenticate', challenge.header)
    status = challenge.status
  }
  reply.code(status).header('content-type', 'application/json').send(toErrorResponse(id, error))
}

/** Each function also tells the observers that the request has ended. */
export interface Replies {
  /**
   * Answers with the error and its HTTP status.
   * @param method the method of the message, if the message was read and the service has its method.
   */
  refuse (error: unknown, request: FastifyRequest, reply: FastifyReply, method?: string): void
  /** Answers a request for a path that the service does not have. */
  notFound (request: FastifyRequest, reply: FastifyReply): void
  /** Answers a message that needs no JSON-RPC response. */
  accept (request: FastifyRequest, reply: FastifyReply): void
  /** Only tells the observers: the caller has answered the request. */
  end (request: FastifyRequest, reply: FastifyReply, ending?: Pick<Ending, 'isCancelled'>): void
}

export function createReplies (observer: Required<Observer>): Replies {
  function observeEnd (
    { id, principal }: FastifyRequest, reply: FastifyReply, method: string, ending?: Partial<Ending>,
    refused?: RefusedRequest
  ): void {
    const observed = {
      requestId: id,
      method,
      principal,
      subject: undefined,
      revision: undefined,
      isBegun: false,
      isToolError: false,
      refused
    }
    observer.end(observed, {
      durationMs: reply.elapsedTime,
      status: reply.statusCode,
      protocolError: undefined,
      error: undefined,
      isCancelled: false,
      ...ending
    })
  }

  return {
    refuse (error, request, reply, method = request.method) {
      const protocolError = toProtocolError(error)
      sendError(reply, readRequestId(request.body), protocolError, toRefusalStatus(protocolError))
      observeEnd(request, reply, method, { protocolError, error }, describe(request, protocolError.message))
    },
    notFound (request, reply) {
      const message = 'the service does not have this path'
      reply.code(404).send({ statusCode: 404, error: 'Not Found', message })
      observeEnd(request, reply, request.method, {}, describe(request, message))
    },
    accept (request, reply) {
      reply.code(202).send()
      observeEnd(request, reply, request.method)
    },
    end (request, reply, ending) {
      observeEnd(request, reply, request.method, ending)
    }
  }
}

/** The query is left out: it may contain a token. */
function describe (
  { address, url, headers: { host, origin } }: FastifyRequest, reason: string
): RefusedRequest {
  return {
    address: address === undefined ? undefined : toPrintable(address),
    path: toPrintable(url.split('?', 1).join('')),
    host: host === undefined ? undefined : toPrintable(host),
    origin: origin === undefined ? undefined : toPrintable(origin),
    reason: toPrintable(reason)
  }
}

/** The HTTP status of a request that reached no method. A method answers with the same codes in HTTP 200. */
function toRefusalStatus ({ code, httpStatus }: ProtocolError): number {
  if (code === INTERNAL_ERROR_CODE) return 500
  return code === UNAVAILABLE_CODE ? 503 : httpStatus
}

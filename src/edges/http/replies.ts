// Answers to HTTP requests that reach no method: an error for a refused request, 202 for a message that has
// no answer.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  InsufficientScope, LimitReached, TokenExpired, type ProtocolError
} from '../../platform/protocol/errors.ts'
import { readRequestId, toErrorResponse, type RequestId } from '../../platform/protocol/json-rpc.ts'
import type { Ending, Observer, RefusedRequest } from '../../request/pipeline/observer.ts'
import type { RequestTracer } from '../../request/pipeline/request-tracer.ts'
import { toProtocolError } from '../../request/pipeline/to-protocol-error.ts'
import { prefersHtml } from './accept.ts'
import { JSON_TEXT_TYPE } from './json-reply.ts'
import type { OriginPolicy } from './origin-policy.ts'

const INTERNAL_ERROR_CODE = -32603
const UNAVAILABLE_CODE = 503
const MAX_PRINTABLE_CHARS = 200

/** Writes an error as the answer to an HTTP request, with the id of the request in the log. */
export function sendError (
  reply: FastifyReply, id: RequestId | undefined, error: ProtocolError, status = error.httpStatus
): void {
  if (error instanceof LimitReached && error.retryAfterSeconds !== undefined) {
    reply.header('retry-after', error.retryAfterSeconds)
  } else if (status === 503) reply.header('retry-after', '5')
  reply.header('x-request-id', reply.request.id)
  if (status === 405) reply.header('allow', 'POST')
  if (error instanceof TokenExpired) {
    reply.header('www-authenticate', reply.server.challenges.unauthorized('invalid_token'))
  }
  if (error instanceof InsufficientScope) {
    const { server: { challenges }, request: { principal } } = reply
    const challenge = challenges.insufficientScope(error.requiredScopes, principal)
    reply.header('www-authenticate', challenge.header)
    status = challenge.status
  }
  reply.code(status).header('content-type', JSON_TEXT_TYPE).send(toErrorResponse(id, error))
}

/** Each function also tells the observers and the tracer that the request has ended. */
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
  /** Sends nothing: the caller has answered the request. */
  end (request: FastifyRequest, reply: FastifyReply, ending?: Pick<Ending, 'isCancelled'>): void
}

/** @param tracer absent if the service is not traced. */
export function createReplies (
  observer: Required<Observer>, tracer?: Pick<RequestTracer, 'traceUnserved'>
): Replies {
  function observeEnd (
    request: FastifyRequest, reply: FastifyReply, facts?: Partial<Ending>, refused?: RefusedRequest,
    method?: string
  ): void {
    const { id, principal } = request
    const ending = {
      durationMs: reply.elapsedTime,
      status: reply.statusCode,
      protocolError: undefined,
      error: undefined,
      isCancelled: false,
      ...facts
    }
    const observed = {
      requestId: id,
      method: method ?? request.method,
      principal,
      subject: undefined,
      revision: undefined,
      isBegun: false,
      isToolError: false,
      refused,
      traceId: tracer?.traceUnserved(request, method, ending)
    }
    observer.end(observed, ending)
  }

  return {
    refuse (error, request, reply, method) {
      const protocolError = toProtocolError(error, request.id)
      sendError(reply, readRequestId(request.body), protocolError, toRefusalStatus(protocolError))
      const refusal = describe(request, protocolError.message)
      observeEnd(request, reply, { protocolError, error }, refusal, method)
    },
    notFound (request, reply) {
      const message = 'the service does not have this path'
      reply.code(404).send({ statusCode: 404, error: 'Not Found', message })
      observeEnd(request, reply, {}, describe(request, message))
    },
    accept (request, reply) {
      reply.code(202).send()
      observeEnd(request, reply)
    },
    end (request, reply, ending) {
      observeEnd(request, reply, ending)
    }
  }
}

interface NotFoundDependencies {
  readonly replies: Replies
  readonly policy: OriginPolicy
  /** Answers a browser at the root. */
  welcome (request: FastifyRequest, reply: FastifyReply): void
}

/**
 * Answers requests for paths that the service does not have. Pages of allowed origins may read the answer:
 * without these headers they only see that it failed.
 */
export function registerNotFound (
  app: FastifyInstance, { replies, policy, welcome }: NotFoundDependencies
): void {
  // The body of such a request is not read. Routes of a program that embeds the service have other parsers.
  app.removeAllContentTypeParsers()
  app.setNotFoundHandler((request, reply) => {
    const { url, headers: { host, origin } } = request
    // Not a route: a program that embeds the service may have one of its own for this path.
    if (/^\/(?:\?|$)/.test(url) && prefersHtml(request) && policy.isAllowedHost(host)) {
      return welcome(request, reply)
    }
    if (origin !== undefined && policy.isAllowedOrigin(origin)) {
      reply.header('access-control-allow-origin', origin).header('vary', 'Origin')
    }
    replies.notFound(request, reply)
  })
}

/** The query is left out: it may contain a token. */
function describe (
  { address, url, headers: { host, origin } }: FastifyRequest, reason: string
): RefusedRequest {
  return {
    address: address === undefined ? undefined : toPrintable(address),
    // A link to a file works for whoever has it.
    path: toPrintable(url.split('?', 1).join('').replace(/\/files\/.+$/, '/files/…')),
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

/** Cuts a text of a client for the log or an error, and replaces all but printable ASCII. */
export function toPrintable (text: string): string {
  const printable = text.slice(0, MAX_PRINTABLE_CHARS).replace(/[^ -~]/g, '?')
  return text.length > MAX_PRINTABLE_CHARS ? `${printable}...` : printable
}

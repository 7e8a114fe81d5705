// Serves a POST of a session: a message or, in one revision, an array of messages.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pipeline } from '../../dispatch/pipeline.ts'
import { toProtocolError } from '../../dispatch/to-protocol-error.ts'
import { SessionCaller } from '../../legacy/session-caller.ts'
import type { SessionRelay } from '../../legacy/session-relay.ts'
import type { Session } from '../../legacy/session.ts'
import { invalidRequest, ProtocolError } from '../../protocol/errors.ts'
import {
  isObject, isRequest, isRequestId, isResponse, readMessage, readRequestId, toErrorResponse,
  type Notification, type Request
} from '../../protocol/json-rpc.ts'
import { hasBatches } from '../../protocol/revision-features.ts'
import { checkAccept } from '../accept.ts'
import type { Replies } from '../replies.ts'
import { CallReply, type CallReplyDependencies } from './call-reply.ts'
import { LegacyOutlet, type LegacyOutletDependencies } from './outlet.ts'

interface LegacyPostDependencies extends CallReplyDependencies, LegacyOutletDependencies {
  readonly pipeline: Pipeline
  readonly relay: SessionRelay
  readonly replies: Replies
}

const MAX_BATCH_MESSAGES = 100

/** The messages of an array by their kind. */
interface Batch {
  readonly requests: Request[]
  readonly notifications: Notification[]
  readonly responses: unknown[]
  /** An error response for each malformed message. */
  readonly errorResponses: string[]
}

export function createLegacyPost (
  dependencies: LegacyPostDependencies
): (session: Session, request: FastifyRequest, reply: FastifyReply) => void {
  const { pipeline, relay, answers, replies } = dependencies

  function serveRequest (
    message: Request, session: Session, request: FastifyRequest, callReply: CallReply
  ): void {
    const outlet = new LegacyOutlet(callReply, session, message.id, dependencies)
    let caller: SessionCaller
    try {
      caller = new SessionCaller(request, session, message.params, outlet)
    } catch (error) {
      return outlet.fail(toProtocolError(error))
    }
    pipeline.serve(message, caller, outlet)
  }

  function takeNotification ({ id: session }: Session, { method, params }: Notification): void {
    if (method !== 'notifications/cancelled' || !isRequestId(params?.requestId)) return
    // Any replica may serve the request. If it cannot be reached, the request runs on and nobody reads its
    // result: that does no harm, so the error is ignored.
    relay.send({ type: 'call-cancelled', session, request: params.requestId }).catch(() => {})
  }

  async function takeResponse (session: Session, body: unknown): Promise<void> {
    if (!isObject(body) || typeof body.id !== 'string') {
      throw invalidRequest('the id of the response is not that of a request of this service')
    }
    const isTaken = await answers.deliver(session.id, body.id, {
      result: body.result, error: body.error
    }).catch((cause: unknown) => {
      if (cause instanceof RangeError) throw invalidRequest('the response is nested too deeply')
      throw new ProtocolError(503, 'The response could not be passed on. Send it again.', {
        cause, httpStatus: 503
      })
    })
    if (!isTaken) throw invalidRequest('no request of this service waits for this response')
  }

  function postBatch (
    bodies: readonly unknown[], session: Session, request: FastifyRequest, reply: FastifyReply
  ): void {
    if (!hasBatches(session.revision)) {
      throw invalidRequest('batches are not part of this protocol version; send one message per POST')
    }
    if (bodies.length === 0) throw invalidRequest('the batch is empty')
    if (bodies.length > MAX_BATCH_MESSAGES) {
      throw invalidRequest(`the batch has ${bodies.length} messages, the limit is ${MAX_BATCH_MESSAGES}`)
    }
    const { requests, notifications, responses, errorResponses } = sortMessages(bodies)
    for (const notification of notifications) takeNotification(session, notification)
    // A response that no request waits for is only logged: the other messages of the batch are served.
    for (const response of responses) {
      takeResponse(session, response).catch(
        (error: unknown) => request.log.info({ err: error }, 'response not taken')
      )
    }
    const posted = { requests: requests.map(({ id }) => id), isBatch: true }
    const callReply = new CallReply(reply, session, dependencies, posted, errorResponses)
    if (requests.length === 0) callReply.endWithoutRequests()
    for (const message of requests) serveRequest(message, session, request, callReply)
  }

  return (session, request, reply) => {
    const { body } = request
    checkAccept(request.headers.accept)
    if (Array.isArray(body)) return postBatch(body, session, request, reply)
    if (isObject(body) && isResponse(body)) {
      takeResponse(session, body).then(
        () => replies.accept(request, reply), (error: unknown) => replies.refuse(error, request, reply)
      )
      return
    }
    const message = readMessage(body)
    if (isRequest(message)) {
      const posted = { requests: [message.id], isBatch: false }
      serveRequest(message, session, request, new CallReply(reply, session, dependencies, posted))
    } else {
      takeNotification(session, message)
      replies.accept(request, reply)
    }
  }
}

/** The messages of a batch are independent: a malformed one gets an error, and the others are served. */
function sortMessages (bodies: readonly unknown[]): Batch {
  const batch: Batch = { requests: [], notifications: [], responses: [], errorResponses: [] }
  for (const body of bodies) {
    try {
      if (isObject(body) && isResponse(body)) {
        batch.responses.push(body)
        continue
      }
      const message = readMessage(body)
      if (message.method === 'initialize') throw invalidRequest('initialize cannot be part of a batch')
      if (!isRequest(message)) batch.notifications.push(message)
      else if (batch.requests.some(({ id }) => id === message.id)) {
        throw invalidRequest('the id is that of another request of the batch')
      } else batch.requests.push(message)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      batch.errorResponses.push(toErrorResponse(readRequestId(body), error))
    }
  }
  return batch
}

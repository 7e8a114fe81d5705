// Serves a POST of a session: a message or, in one revision, an array of messages.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readAccept } from '../../http/accept.ts'
import type { Replies } from '../../http/replies.ts'
import { batchTooLarge, invalidRequest, ProtocolError } from '../../../platform/protocol/errors.ts'
import {
  isObject, isRequest, isRequestId, isResponse, readMessage, toErrorResponse, type Notification,
  type Request
} from '../../../platform/protocol/json-rpc.ts'
import { hasBatches } from '../../../platform/protocol/revisions.ts'
import type { Pipeline } from '../../../request/pipeline/pipeline.ts'
import { toProtocolError } from '../../../request/pipeline/to-protocol-error.ts'
import { SessionCaller } from '../sessions/session-caller.ts'
import type { SessionMessages } from '../sessions/session-messages.ts'
import type { Session } from '../sessions/session.ts'
import { BatchQueue, readBatch } from './batch.ts'
import { CallReply, type CallReplyDependencies } from './call-reply.ts'
import { LegacyOutlet, type LegacyOutletDependencies } from './outlet.ts'

export interface LegacyPostDependencies extends CallReplyDependencies, LegacyOutletDependencies {
  readonly pipeline: Pipeline
  readonly messages: SessionMessages
  readonly replies: Replies
}

export function createLegacyPost (
  dependencies: LegacyPostDependencies
): (session: Session, request: FastifyRequest, reply: FastifyReply) => void {
  const { pipeline, messages, answers, replies } = dependencies

  function serveRequest (
    message: Request, session: Session, request: FastifyRequest, callReply: CallReply
  ): void {
    const outlet = new LegacyOutlet(callReply, session, message.id, dependencies)
    let caller: SessionCaller
    try {
      const requester = callReply.takesStream ? outlet : undefined
      caller = new SessionCaller(request, session, message.params, requester)
    } catch (error) {
      return outlet.fail(toProtocolError(error, request.id))
    }
    pipeline.serve(message, caller, outlet)
  }

  function takeNotification ({ id: session }: Session, { method, params }: Notification): void {
    if (method !== 'notifications/cancelled' || !isRequestId(params?.requestId)) return
    // Any replica may serve the request. If it cannot be reached, the request runs on and nobody reads its
    // result: that does no harm, so the error is ignored.
    messages.send({ type: 'call-cancelled', session, request: params.requestId }).catch(() => {})
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
    bodies: readonly unknown[], session: Session, request: FastifyRequest, reply: FastifyReply,
    takesStream: boolean
  ): void {
    if (!hasBatches(session.revision)) {
      throw invalidRequest('batches are not part of this protocol version; send one message per POST')
    }
    const { requests, notifications, responses, errorResponses } = readBatch(bodies)
    for (const notification of notifications) takeNotification(session, notification)
    // A response that no request waits for is only logged: the other messages of the batch are served.
    for (const response of responses) {
      takeResponse(session, response).catch(
        (error: unknown) => request.log.info({ err: error }, 'response not taken')
      )
    }
    const queue = new BatchQueue(requests, {
      serve: (message) => serveRequest(message, session, request, callReply),
      refuse: ({ id }) => callReply.respond(id, toErrorResponse(id, batchTooLarge()))
    })
    const callReply = new CallReply(reply, session, dependencies, {
      requests: requests.map(({ id }) => id), takesStream, queue, responses: errorResponses
    })
    if (requests.length === 0) callReply.endWithoutRequests()
    else queue.next()
  }

  return (session, request, reply) => {
    const { body } = request
    const takesStream = readAccept(request.headers.accept)
    if (Array.isArray(body)) return postBatch(body, session, request, reply, takesStream)
    if (isObject(body) && isResponse(body)) {
      takeResponse(session, body).then(
        () => replies.accept(request, reply), (error: unknown) => replies.refuse(error, request, reply)
      )
      return
    }
    const message = readMessage(body)
    if (isRequest(message)) {
      const callReply = new CallReply(reply, session, dependencies, { requests: [message.id], takesStream })
      serveRequest(message, session, request, callReply)
    } else {
      takeNotification(session, message)
      replies.accept(request, reply)
    }
  }
}

// What a client of a session sends: a message, or in one revision an array of them.
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

export interface PostDependencies extends CallReplyDependencies, LegacyOutletDependencies {
  readonly pipeline: Pipeline
  readonly relay: SessionRelay
  readonly replies: Replies
}

const MAX_BATCH = 100

/** What came in an array, sorted. */
interface Batch {
  readonly requests: Request[]
  readonly notifications: Notification[]
  readonly responses: unknown[]
  readonly refusals: string[]
}

export function createPost (
  dependencies: PostDependencies
): (session: Session, request: FastifyRequest, reply: FastifyReply) => void {
  const { pipeline, relay, answers, replies } = dependencies

  function call (message: Request, session: Session, request: FastifyRequest, into: CallReply): void {
    const outlet = new LegacyOutlet(into, session, message.id, dependencies)
    let caller: SessionCaller
    try {
      caller = new SessionCaller(request, session, message.params, outlet)
    } catch (error) {
      return outlet.fail(toProtocolError(error))
    }
    pipeline.serve(message, caller, outlet)
  }

  function hear ({ id: session }: Session, { method, params }: Notification): void {
    if (method !== 'notifications/cancelled' || !isRequestId(params?.requestId)) return
    // Wherever it is served. In vain where that is out of reach: nobody waits for the result in any case.
    relay.send({ type: 'call-cancelled', session, request: params.requestId }).catch(() => {})
  }

  async function take (session: Session, body: unknown): Promise<void> {
    if (!isObject(body) || typeof body.id !== 'string') {
      throw invalidRequest('the response names no request of this service')
    }
    const isTaken = await answers.deliver(session.id, body.id, {
      result: body.result, error: body.error
    }).catch((cause: unknown) => {
      if (cause instanceof RangeError) throw invalidRequest('the response is nested too deeply')
      throw new ProtocolError(503, 'The response could not be passed on. Send it again.', {
        cause, httpStatus: 503
      })
    })
    if (!isTaken) throw invalidRequest('the response is to a request that nobody waits for, or no longer')
  }

  function postBatch (
    bodies: readonly unknown[], session: Session, request: FastifyRequest, reply: FastifyReply
  ): void {
    if (!hasBatches(session.revision)) {
      throw invalidRequest('batches are not part of this protocol version; send one message per POST')
    }
    if (bodies.length === 0) throw invalidRequest('the batch is empty')
    if (bodies.length > MAX_BATCH) {
      throw invalidRequest(`the batch has ${bodies.length} messages, the limit is ${MAX_BATCH}`)
    }
    const { requests, notifications, responses, refusals } = sort(bodies)
    for (const notification of notifications) hear(session, notification)
    // One that nobody waits for must not sink the others.
    for (const response of responses) {
      take(session, response).catch(
        (error: unknown) => request.log.info({ err: error }, 'response not taken')
      )
    }
    const into = new CallReply(
      reply, session, dependencies, { requests: requests.map(({ id }) => id), isBatch: true }, refusals
    )
    if (requests.length === 0) into.answerAtOnce()
    for (const one of requests) call(one, session, request, into)
  }

  return (session, request, reply) => {
    const { body } = request
    checkAccept(request.headers.accept)
    if (Array.isArray(body)) return postBatch(body, session, request, reply)
    if (isObject(body) && isResponse(body)) {
      take(session, body).then(
        () => replies.accept(request, reply), (error: unknown) => replies.refuse(error, request, reply)
      )
      return
    }
    const message = readMessage(body)
    if (isRequest(message)) {
      call(
        message, session, request,
        new CallReply(reply, session, dependencies, { requests: [message.id], isBatch: false })
      )
    } else {
      hear(session, message)
      replies.accept(request, reply)
    }
  }
}

/** Each message of a batch stands for itself: one that is malformed is refused, and the others are served. */
function sort (bodies: readonly unknown[]): Batch {
  const batch: Batch = { requests: [], notifications: [], responses: [], refusals: [] }
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
      batch.refusals.push(toErrorResponse(readRequestId(body), error))
    }
  }
  return batch
}

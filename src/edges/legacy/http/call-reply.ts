// The answer to one POST of a session: JSON, or a stream if a message must be sent before the answer. If the
// stream breaks, the client can reconnect and read the rest. An answer without a stream cannot be read again.
// A client that takes no stream gets no messages before the answer.

import type { FastifyReply } from 'fastify'
import type { AnswerDependencies } from '../../http/era.ts'
import { openEventStream, type EventStream } from '../../http/event-stream.ts'
import { sendJson } from '../../http/json-reply.ts'
import { sendError } from '../../http/replies.ts'
import { answerDropped, InsufficientScope, type ProtocolError } from '../../../platform/protocol/errors.ts'
import { toErrorResponse, type ReadyResponse, type RequestId } from '../../../platform/protocol/json-rpc.ts'
import { hasStreamPolling } from '../../../platform/protocol/revisions.ts'
import type { CallStream, CallStreams } from '../sessions/call-streams.ts'
import type { Session } from '../sessions/session.ts'
import type { BatchQueue } from './batch.ts'

export interface CallReplyDependencies extends AnswerDependencies {
  readonly callStreams: CallStreams
}

interface PostedRequests {
  /** The ids of the requests in the POST. */
  readonly requests: readonly RequestId[]
  readonly takesStream: boolean
  /** Present if the POST is a batch. */
  readonly queue?: BatchQueue
  /** Responses that are already known, such as errors for malformed messages of a batch. */
  readonly responses?: readonly string[]
}

export class CallReply {
  readonly takesStream: boolean
  readonly #reply: FastifyReply
  readonly #session: Session
  readonly #dependencies: CallReplyDependencies
  readonly #requests: readonly RequestId[]
  readonly #queue: BatchQueue | undefined
  readonly #responses: Array<string | ReadyResponse>
  #pendingCount: number
  #open: { readonly stream: EventStream, readonly log: CallStream } | undefined

  constructor (
    reply: FastifyReply, session: Session, dependencies: CallReplyDependencies,
    { requests, takesStream, queue, responses = [] }: PostedRequests
  ) {
    this.takesStream = takesStream
    this.#reply = reply
    this.#session = session
    this.#dependencies = dependencies
    this.#requests = requests
    this.#queue = queue
    this.#responses = [...responses]
    this.#pendingCount = requests.length
  }

  get status (): number { return this.#reply.statusCode }

  get isBatch (): boolean { return this.#queue !== undefined }

  /** Sends a notification before the answers, unless too many bytes wait for the client. */
  notify (json: string): void {
    if (!this.takesStream) return
    const { stream } = this.#stream()
    if (!stream.isOverfull) this.send(json)
  }

  /** Sends a message before the answers. */
  send (json: string): void {
    if (this.#pendingCount === 0) return
    const { stream, log } = this.#stream()
    stream.send(json, log.write(json))
  }

  /** Answers the request with an error. Its HTTP status counts only if nothing else is in the reply. */
  fail (id: RequestId, error: ProtocolError): void {
    const isAlone = this.#queue === undefined && this.#open === undefined
    if (!isAlone || !(error instanceof InsufficientScope)) return this.respond(id, toErrorResponse(id, error))
    this.#pendingCount = 0
    sendError(this.#reply, id, error)
  }

  /** Answers one of the requests. The last answer ends the reply. */
  respond (id: RequestId, response: string | ReadyResponse): void {
    if (!this.#dependencies.waitingBytes.take(this.#reply, response.length)) return this.#drop(id)
    if (this.#open === undefined) this.#responses.push(response)
    else this.send(response.toString())
    this.#finishRequest(response.length)
  }

  /** Ends the reply of a batch without requests. */
  endWithoutRequests (): void {
    this.#pendingCount = 1
    this.#finishRequest()
  }

  /**
   * Finishes a request that gets no answer. Without a batch, the reply is then an empty stream, or HTTP 202.
   */
  omitAnswer (): void {
    if (this.#queue === undefined && this.takesStream) this.#stream()
    this.#finishRequest()
  }

  /** Opens the stream if the revision lets a client reconnect to it before its first message. */
  openResumable (): void {
    if (this.#isResumable) this.#stream()
  }

  disconnect (retryMs: number): void {
    if (!this.#isResumable) return
    const { stream } = this.#stream()
    stream.retryAfter(retryMs)
    stream.end()
  }

  get #isResumable (): boolean {
    return this.takesStream && this.#pendingCount > 0 && hasStreamPolling(this.#session.revision)
  }

  /** Sends an error in place of an answer that is too large to wait in memory. */
  #drop (id: RequestId): void {
    if (this.#queue === undefined && this.#open === undefined) {
      this.#pendingCount = 0
      return sendError(this.#reply, id, answerDropped())
    }
    this.respond(id, toErrorResponse(id, answerDropped()))
  }

  #finishRequest (bytes = 0): void {
    if (--this.#pendingCount > 0) this.#queue?.answered(bytes)
    else this.#finish()
  }

  #finish (): void {
    if (this.#open !== undefined) {
      this.#open.log.end()
      this.#open.stream.end()
    } else if (this.#responses.length === 0) {
      this.#reply.code(202).send()
    } else {
      const [first = ''] = this.#responses
      sendJson(this.#reply.code(200), this.#queue === undefined ? first : `[${this.#responses.join(',')}]`)
    }
  }

  #stream (): { readonly stream: EventStream, readonly log: CallStream } {
    if (this.#open !== undefined) return this.#open
    const { callStreams, openStreams, keepAlive } = this.#dependencies
    const log = callStreams.create(this.#session, this.#requests, this.#reply.request.principal)
    const stream = openEventStream(this.#reply)
    this.#open = { stream, log }
    // Counted, and never refused: the call holds its connection in any case.
    openStreams.add(stream, this.#reply.request)
    keepAlive.add(stream)
    if (hasStreamPolling(this.#session.revision)) stream.send('', log.openingId)
    for (const response of this.#responses.map(String)) stream.send(response, log.write(response))
    return this.#open
  }
}

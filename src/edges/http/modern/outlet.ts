// Sends the answer to one POST: a JSON body, or a stream if a notification must be sent before the result. A
// client that takes no stream gets no notifications.

import type { FastifyReply } from 'fastify'
import { answerDropped, type ProtocolError } from '../../../platform/protocol/errors.ts'
import { toErrorResponse, toResultResponse, type RequestId } from '../../../platform/protocol/json-rpc.ts'
import type { Outlet } from '../../../request/pipeline/caller.ts'
import { ClientGone, type Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { AnswerDependencies } from '../era.ts'
import { openEventStream, type EventStream } from '../event-stream.ts'
import { sendJson } from '../json-reply.ts'
import { sendError } from '../replies.ts'

export class ModernOutlet implements Outlet {
  readonly #reply: FastifyReply
  readonly #id: RequestId
  readonly #dependencies: AnswerDependencies
  readonly #takesStream: boolean
  #stream: EventStream | undefined

  constructor (reply: FastifyReply, id: RequestId, dependencies: AnswerDependencies, takesStream: boolean) {
    this.#reply = reply
    this.#id = id
    this.#dependencies = dependencies
    this.#takesStream = takesStream
  }

  get status (): number { return this.#reply.statusCode }

  /** A client that closes the connection before the answer stops its request, unless that outlives it. */
  onPending (lifetime: Lifetime): void {
    const { raw } = this.#reply
    const stop = () => { if (!raw.writableEnded) lifetime.stop(new ClientGone()) }
    if (raw.closed) stop()
    else raw.once('close', stop)
  }

  notify (json: string): void {
    // A stream that begins on a closed connection never closes.
    if (!this.#takesStream || this.#reply.raw.closed) return
    const stream = this.#stream ?? this.#openCallStream()
    // Progress and log messages may be left out for a slow client. The result is always sent.
    if (!stream.isOverfull) stream.send(json)
  }

  succeed (result: string | Buffer): void {
    const response = toResultResponse(this.#id, result)
    if (!this.#dependencies.waitingBytes.take(this.#reply, response.length)) this.fail(answerDropped())
    else if (this.#stream !== undefined) this.#stream.end(response.toString())
    else sendJson(this.#reply, response)
  }

  openStream (): EventStream {
    if (this.#stream !== undefined) return this.#stream
    const stream = this.#stream = openEventStream(this.#reply)
    // Counted, and never refused here: a call holds its connection in any case, and subscriptions/listen has
    // checked the limit.
    this.#dependencies.openStreams.add(stream, this.#reply.request)
    return stream
  }

  fail (error: ProtocolError): void {
    if (this.#stream === undefined) sendError(this.#reply, this.#id, error)
    else this.#stream.end(toErrorResponse(this.#id, error))
  }

  /** A client cancels by closing the connection, so nobody reads an answer. */
  leaveUnanswered (): void {
    this.#reply.raw.destroy()
  }

  #openCallStream (): EventStream {
    const stream = this.openStream()
    this.#dependencies.keepAlive.add(stream)
    return stream
  }
}

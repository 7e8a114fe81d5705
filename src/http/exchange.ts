// One POST and its answer: a JSON body, or a stream once there was something to say before the result.

import type { FastifyReply } from 'fastify'
import { toErrorResponse, type RequestId } from '../protocol/json-rpc.ts'
import type { ProtocolError } from '../protocol/errors.ts'
import type { Outcome } from '../dispatch/method.ts'
import { EVENT_STREAM_HEADERS, EventStream } from './event-stream.ts'
import { toReadyResponse } from './ready-answers.ts'

export class Exchange {
  readonly #reply: FastifyReply
  readonly #id: RequestId | undefined
  #stream: EventStream | undefined
  #answered = false

  constructor (reply: FastifyReply, id: RequestId | undefined) {
    this.#reply = reply
    this.#id = id
  }

  /** Sends a notification ahead of the result. */
  notify (json: string): void {
    if (this.#answered) return
    const stream = this.#openStream()
    // Progress and log messages may be left out; what a client that does not read is owed is the result.
    if (!stream.isOverfull) stream.send(json)
  }

  finish (id: RequestId, outcome: Outcome): void {
    if (this.#answered) return
    this.#answered = true
    if (typeof outcome === 'string' || Buffer.isBuffer(outcome)) {
      const response = toReadyResponse(id, outcome)
      if (this.#stream === undefined) this.#reply.header('content-type', 'application/json').send(response)
      else this.#stream.end(response.toString())
    } else {
      outcome.open(this.#openStream())
    }
  }

  fail (error: ProtocolError): void {
    if (this.#answered) return
    this.#answered = true
    const response = toErrorResponse(this.#id, error)
    if (this.#stream !== undefined) {
      this.#stream.end(response)
      return
    }
    if (error.httpStatus === 503) this.#reply.header('retry-after', '5')
    this.#reply.code(error.httpStatus).header('content-type', 'application/json').send(response)
  }

  #openStream (): EventStream {
    if (this.#stream === undefined) {
      this.#stream = new EventStream()
      this.#reply.code(200).headers(EVENT_STREAM_HEADERS).send(this.#stream)
    }
    return this.#stream
  }
}

// The answer to one POST of a session: JSON, or a stream once there was something to say before it. A client
// that is cut off from the stream comes back for the rest; a client that was given no stream has nothing to
// come back to.

import type { FastifyReply } from 'fastify'
import type { CallStream, CallStreams } from '../../legacy/call-streams.ts'
import type { Session } from '../../legacy/session.ts'
import type { RequestId } from '../../protocol/json-rpc.ts'
import { hasStreamPolling } from '../../protocol/revision-features.ts'
import { openEventStream, type EventStream } from '../event-stream.ts'
import type { KeepAlive } from '../keep-alive.ts'

export interface CallReplyDependencies {
  readonly callStreams: CallStreams
  readonly keepAlive: KeepAlive
}

/** The requests that came with it, in an array or alone. */
export interface Asked { readonly requests: readonly RequestId[], readonly isBatch: boolean }

export class CallReply {
  readonly #reply: FastifyReply
  readonly #session: Session
  readonly #dependencies: CallReplyDependencies
  readonly #asked: Asked
  /** Bytes stay what they are: a list may be large. */
  readonly #responses: Array<string | Buffer>
  #left: number
  #open: { readonly stream: EventStream, readonly log: CallStream } | undefined

  /** @param responses what was answered before anything was asked. */
  constructor (
    reply: FastifyReply, session: Session, dependencies: CallReplyDependencies, asked: Asked,
    responses: readonly string[] = []
  ) {
    this.#reply = reply
    this.#session = session
    this.#dependencies = dependencies
    this.#asked = asked
    this.#responses = [...responses]
    this.#left = asked.requests.length
  }

  /** Sends a notification ahead of the answers. May leave it out for a client that does not read. */
  notify (json: string): void {
    const { stream } = this.#stream()
    if (!stream.isOverfull) this.send(json)
  }

  /** Sends a message ahead of the answers. */
  send (json: string): void {
    if (this.#left === 0) return
    const { stream, log } = this.#stream()
    stream.send(json, log.write(json))
  }

  /** Answers one of the requests; the last answer ends it. */
  respond (response: string | Buffer): void {
    if (this.#open === undefined) this.#responses.push(response)
    else this.send(response.toString())
    this.#settle()
  }

  /** Where nothing was asked that has to be waited for. */
  answerAtOnce (): void {
    this.#left = 1
    this.#settle()
  }

  /** For a request that is to have no answer. */
  leaveOut (): void {
    if (!this.#asked.isBatch) this.#stream()
    this.#settle()
  }

  /** Gives the client something to come back to, where its revision has that. */
  prepare (): void {
    if (this.#left > 0 && hasStreamPolling(this.#session.revision)) this.#stream()
  }

  disconnect (retryMs: number): void {
    if (this.#left === 0 || !hasStreamPolling(this.#session.revision)) return
    const { stream } = this.#stream()
    stream.retryAfter(retryMs)
    stream.end()
  }

  #settle (): void {
    if (--this.#left > 0) return
    if (this.#open !== undefined) {
      this.#open.log.end()
      this.#open.stream.end()
    } else if (this.#responses.length === 0) {
      this.#reply.code(202).send()
    } else {
      const body = this.#asked.isBatch ? `[${this.#responses.join(',')}]` : this.#responses[0]
      this.#reply.code(200).header('content-type', 'application/json').send(body)
    }
  }

  #stream (): { readonly stream: EventStream, readonly log: CallStream } {
    if (this.#open !== undefined) return this.#open
    const log = this.#dependencies.callStreams.create(this.#session, this.#asked.requests)
    const stream = openEventStream(this.#reply)
    this.#open = { stream, log }
    this.#dependencies.keepAlive.add(stream)
    if (hasStreamPolling(this.#session.revision)) stream.send('', log.openingId)
    for (const response of this.#responses.map(String)) stream.send(response, log.write(response))
    return this.#open
  }
}

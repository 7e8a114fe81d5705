// The answer to one POST of a session: JSON, or a stream if a message must be sent before the answer. If the
// stream breaks, the client can reconnect and read the rest. An answer without a stream cannot be read again.

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

/** The ids of the requests in one POST, which is an array of messages (a batch) or a single message. */
interface PostedRequests { readonly requests: readonly RequestId[], readonly isBatch: boolean }

export class CallReply {
  readonly #reply: FastifyReply
  readonly #session: Session
  readonly #dependencies: CallReplyDependencies
  readonly #posted: PostedRequests
  /** Buffers are not converted to strings: a list may be large. */
  readonly #responses: Array<string | Buffer>
  #pendingCount: number
  #open: { readonly stream: EventStream, readonly log: CallStream } | undefined

  /** @param responses responses that are already known, such as errors for malformed messages of a batch. */
  constructor (
    reply: FastifyReply, session: Session, dependencies: CallReplyDependencies, posted: PostedRequests,
    responses: readonly string[] = []
  ) {
    this.#reply = reply
    this.#session = session
    this.#dependencies = dependencies
    this.#posted = posted
    this.#responses = [...responses]
    this.#pendingCount = posted.requests.length
  }

  /** Sends a notification before the answers, unless too many bytes wait for the client. */
  notify (json: string): void {
    const { stream } = this.#stream()
    if (!stream.isOverfull) this.send(json)
  }

  /** Sends a message before the answers. */
  send (json: string): void {
    if (this.#pendingCount === 0) return
    const { stream, log } = this.#stream()
    stream.send(json, log.write(json))
  }

  /** Answers one of the requests. The last answer ends the reply. */
  respond (response: string | Buffer): void {
    if (this.#open === undefined) this.#responses.push(response)
    else this.send(response.toString())
    this.#finishRequest()
  }

  /** Ends the reply of a batch without requests. */
  endWithoutRequests (): void {
    this.#pendingCount = 1
    this.#finishRequest()
  }

  /** Finishes a request that gets no answer. Without a batch, the reply is then an empty stream. */
  omitAnswer (): void {
    if (!this.#posted.isBatch) this.#stream()
    this.#finishRequest()
  }

  /** Opens the stream if the revision lets a client reconnect to it before its first message. */
  openResumable (): void {
    if (this.#pendingCount > 0 && hasStreamPolling(this.#session.revision)) this.#stream()
  }

  disconnect (retryMs: number): void {
    if (this.#pendingCount === 0 || !hasStreamPolling(this.#session.revision)) return
    const { stream } = this.#stream()
    stream.retryAfter(retryMs)
    stream.end()
  }

  #finishRequest (): void {
    if (--this.#pendingCount > 0) return
    if (this.#open !== undefined) {
      this.#open.log.end()
      this.#open.stream.end()
    } else if (this.#responses.length === 0) {
      this.#reply.code(202).send()
    } else {
      const body = this.#posted.isBatch ? `[${this.#responses.join(',')}]` : this.#responses[0]
      this.#reply.code(200).header('content-type', 'application/json').send(body)
    }
  }

  #stream (): { readonly stream: EventStream, readonly log: CallStream } {
    if (this.#open !== undefined) return this.#open
    const log = this.#dependencies.callStreams.create(this.#session, this.#posted.requests)
    const stream = openEventStream(this.#reply)
    this.#open = { stream, log }
    this.#dependencies.keepAlive.add(stream)
    if (hasStreamPolling(this.#session.revision)) stream.send('', log.openingId)
    for (const response of this.#responses.map(String)) stream.send(response, log.write(response))
    return this.#open
  }
}

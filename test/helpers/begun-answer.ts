// An answer that has begun and may continue, as clients of every revision see it.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { until } from './deadline.ts'
import type { Message } from './request.ts'

export class BegunAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Every message so far. The messages of a batch are listed one by one. */
  readonly messages: Message[] = []
  /** The number of keep-alive comments so far. */
  comments = 0
  hasEnded = false
  /** Whether the answer ended with its last byte, and not with a broken connection. */
  isComplete = false
  protected readonly incoming: IncomingMessage
  #taken = 0

  constructor (incoming: IncomingMessage) {
    this.incoming = incoming
    this.status = incoming.statusCode ?? 0
    this.headers = incoming.headers
    incoming.setEncoding('utf8')
    incoming.on('error', () => {})
  }

  get isStream (): boolean { return this.headers['content-type']?.startsWith('text/event-stream') === true }

  /** The last message, which is the response once the answer has ended. */
  get response (): Message { return this.messages.at(-1) }

  /** The next message that this method has not returned yet. */
  async next (deadlineMs?: number): Promise<Message> {
    await until(() => this.messages.length > this.#taken, 'a message', deadlineMs)
    return this.messages[this.#taken++]
  }

  /** Resolves to this object when the answer has ended, complete or not. */
  async ended (deadlineMs?: number): Promise<this> {
    await until(() => this.hasEnded, 'the end of the answer', deadlineMs)
    return this
  }

  /** Closes the connection, as a client does that goes away. */
  close (): void { this.incoming.destroy() }
}

// An answer that has begun, and of which more may come: what clients of every revision know of it.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { until } from './deadline.ts'
import type { Message } from './request.ts'

export class BegunAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Every message so far, those of an array one by one. */
  readonly messages: Message[] = []
  /** How many keep-alive comments have come. */
  comments = 0
  hasEnded = false
  /** Whether it ended as it should, and not with a broken connection. */
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

  /** The next message that this has not returned before. */
  async next (deadlineMs?: number): Promise<Message> {
    await until(() => this.messages.length > this.#taken, 'a message', deadlineMs)
    return this.messages[this.#taken++]
  }

  /** Resolves to itself once the answer has ended, well or badly. */
  async ended (deadlineMs?: number): Promise<this> {
    await until(() => this.hasEnded, 'the end of the answer', deadlineMs)
    return this
  }

  /** Breaks the connection off, as a client does that is gone. */
  close (): void { this.incoming.destroy() }
}

// A client of the endpoint over node:http, for answers that come in pieces and for clients that leave in the middle.

import { request as openRequest, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { META, readMessages, toPost, type Message, type RequestParts } from './request.ts'
import { until, within } from './deadline.ts'
import { checkSent } from './wire-schema.ts'

/** An answer that has begun. */
export class AnswerStream {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Every message so far. */
  readonly messages: Message[] = []
  /** How many keep-alive comments have come. */
  comments = 0
  receivedBytes = 0
  hasEnded = false
  /** Whether it ended as it should, and not with a broken connection. */
  isComplete = false
  readonly #response: IncomingMessage
  readonly #isEvents: boolean
  readonly #method: string
  #text = ''
  #taken = 0

  /** @param method of the request, a subscription by default. A message that the revision does not have is thrown, out of anybody's reach. */
  constructor (response: IncomingMessage, method = 'subscriptions/listen') {
    this.#response = response
    this.#method = method
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    this.#isEvents = response.headers['content-type']?.startsWith('text/event-stream') === true
    response.setEncoding('utf8')
    response.on('error', () => {})
    response.on('close', () => {
      this.isComplete = response.complete
      if (!this.#isEvents && this.#text !== '') this.#keep(readMessages(this.#text, ''))
      this.hasEnded = true
    })
    response.on('data', (chunk: string) => this.#take(chunk))
  }

  /** The last message, which is the response once the answer has ended. */
  get response (): Message { return this.messages.at(-1) }

  /** The text of an answer that is no event stream. */
  get text (): string { return this.#text }

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

  /** Reads nothing more until `resume` is called. */
  pause (): void { this.#response.pause() }

  resume (): void { this.#response.resume() }

  /** Breaks the connection off, as a client does that is gone. */
  close (): void { this.#response.destroy() }

  #take (chunk: string): void {
    this.#text += chunk
    this.receivedBytes += Buffer.byteLength(chunk)
    if (!this.#isEvents) return
    const events = this.#text.split('\n\n')
    this.#text = events.pop() ?? ''
    for (const event of events) {
      if (event.startsWith(':')) this.comments++
      else this.#keep(readMessages(`${event}\n\n`, 'text/event-stream'))
    }
  }

  #keep (messages: readonly Message[]): void {
    for (const message of messages) checkSent(message, META['io.modelcontextprotocol/protocolVersion'], this.#method)
    this.messages.push(...messages)
  }
}

export interface Sending {
  /** Settles when the answer begins. */
  readonly answer: Promise<AnswerStream>
  /** Breaks the connection off. */
  abort (): void
}

export interface SendOptions {
  /** A connection of its own by default. */
  readonly agent?: Agent
  /** Whether nothing is to be read of the answer until it is resumed. */
  readonly paused?: boolean
}

/** Sends a conforming request, broken off when the test ends. */
export function startRequest (t: Test, url: string, parts: RequestParts, { agent, paused = false }: SendOptions = {}): Sending {
  const { headers, body } = toPost(parts)
  const request = openRequest(url, { method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) }, agent: agent ?? false })
  const answer = new Promise<AnswerStream>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      const stream = new AnswerStream(response, parts.method)
      if (paused) stream.pause()
      resolve(stream)
    })
  })
  // Whoever aborts it need not wait for it.
  answer.catch(() => {})
  t.teardown(() => { request.destroy() })
  request.end(body)
  return { answer, abort: () => { request.destroy() } }
}

/** Sends a request and returns its answer as soon as that begins. */
export async function openStream (t: Test, url: string, parts: RequestParts, options?: SendOptions): Promise<AnswerStream> {
  return await within(startRequest(t, url, parts, options).answer, 'an answer')
}

/** Sends a request and returns its answer once that has ended. */
export async function post (t: Test, url: string, parts: RequestParts, options?: SendOptions): Promise<AnswerStream> {
  return await (await openStream(t, url, parts, options)).ended()
}

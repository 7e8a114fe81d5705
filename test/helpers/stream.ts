// A client of the endpoint over node:http, for answers that come in pieces and for clients that leave in the
// middle.

import { request as openRequest, type Agent, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { BegunAnswer } from './begun-answer.ts'
import { within } from './deadline.ts'
import { META, readMessages, toPost, type Message, type RequestParts } from './request.ts'
import { checkSent } from './wire-schema.ts'

/** An answer that has begun. */
export class AnswerStream extends BegunAnswer {
  receivedBytes = 0
  readonly #method: string
  #text = ''

  /**
   * @param method of the request, a subscription by default. A message that the revision does not have is
   * thrown, out of anybody's reach.
   */
  constructor (incoming: IncomingMessage, method = 'subscriptions/listen') {
    super(incoming)
    this.#method = method
    incoming.on('close', () => {
      this.isComplete = incoming.complete
      if (!this.isStream && this.#text !== '') this.#keep(readMessages(this.#text, ''))
      this.hasEnded = true
    })
    incoming.on('data', (chunk: string) => this.#take(chunk))
  }

  /** The text of an answer that is no event stream. */
  get text (): string { return this.#text }

  /** Reads nothing more until `resume` is called. */
  pause (): void { this.incoming.pause() }

  resume (): void { this.incoming.resume() }

  #take (chunk: string): void {
    this.#text += chunk
    this.receivedBytes += Buffer.byteLength(chunk)
    if (!this.isStream) return
    const events = this.#text.split('\n\n')
    this.#text = events.pop() ?? ''
    for (const event of events) {
      if (event.startsWith(':')) this.comments++
      else this.#keep(readMessages(`${event}\n\n`, 'text/event-stream'))
    }
  }

  #keep (messages: readonly Message[]): void {
    for (const message of messages) {
      checkSent(message, META['io.modelcontextprotocol/protocolVersion'], this.#method)
    }
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
  /** For the beginning of the answer, 30,000 by default. */
  readonly deadlineMs?: number
}

/** Sends a conforming request, broken off when the test ends. */
export function startRequest (
  t: Test, url: string, parts: RequestParts, { agent, paused = false }: SendOptions = {}
): Sending {
  const { headers, body } = toPost(parts)
  const request = openRequest(url, {
    method: 'POST', headers: { ...headers, 'content-length': Buffer.byteLength(body) }, agent: agent ?? false
  })
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
export async function openStream (
  t: Test, url: string, parts: RequestParts, options?: SendOptions
): Promise<AnswerStream> {
  return await within(startRequest(t, url, parts, options).answer, 'an answer', options?.deadlineMs)
}

/** Sends a request and returns its answer once that has ended. */
export async function post (
  t: Test, url: string, parts: RequestParts, options?: SendOptions
): Promise<AnswerStream> {
  return await (await openStream(t, url, parts, options)).ended()
}

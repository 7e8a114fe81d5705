// Sends messages to the endpoint of a service, and reads the messages of its answers.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import { MEDIA_TYPES, readAnswerText, readMessageTexts } from '../../../platform/protocol/client-requests.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { toConnectionError, toStatusError } from './connection-error.ts'

/** An answer may be this long, in characters. It is more than the largest result of a service of ours. */
const MAX_ANSWER_LENGTH = 300_000_000

/** A JSON-RPC message as it came. */
export type Received = { readonly [member: string]: unknown }

type Headers = { readonly [name: string]: string }

export interface EndpointOptions {
  readonly url: string
  /** Sent with each request, such as `authorization`. */
  readonly headers: Headers
}

export interface EndpointAnswer {
  readonly status: number
  readonly sessionId: string | undefined
  /** Rejects with a ConnectionError. */
  readonly messages: AsyncIterator<Received, undefined>
}

export class Endpoint {
  readonly url: string
  readonly #headers: Headers

  constructor ({ url, headers }: EndpointOptions) {
    this.url = url
    this.#headers = headers
  }

  /** Rejects with a ConnectionError, also for an HTTP error without a JSON-RPC message. */
  async post (message: object, headers: Headers, signal?: AbortSignal): Promise<EndpointAnswer> {
    try {
      const response = await this.#send('POST', { ...MEDIA_TYPES, ...headers }, {
        body: JSON.stringify(message), ...signal !== undefined && { signal }
      })
      const { status, ok } = response
      const messages = ok ? readMessages(response, this.url) : await readRefusal(response, this.url)
      return { status, sessionId: response.headers.get('mcp-session-id') ?? undefined, messages }
    } catch (error) {
      throw toConnectionError(this.url, error)
    }
  }

  /** Opens the stream on which a service asks by itself. Never rejects: a service may have none. */
  async listen (headers: Headers, signal: AbortSignal): Promise<EndpointAnswer['messages']> {
    const response = await this.#send('GET', { accept: 'text/event-stream', ...headers }, { signal })
      .catch(() => undefined)
    return response?.ok === true ? readUntilClosed(response, this.url) : toMessages([])
  }

  /** Ends a session. Never rejects. */
  async delete (headers: Headers): Promise<void> {
    await this.#send('DELETE', headers).catch(() => {})
  }

  async #send (method: string, headers: Headers, options: RequestInit = {}): Promise<Response> {
    // A redirect must not carry a token or another header to an address that the user did not name.
    const init = { method, redirect: 'manual', headers: { ...headers, ...this.#headers } } as const
    return await fetch(this.url, { ...init, ...options })
  }
}

/** The error of the answer as a message. Throws a ConnectionError if it has none, and for lacking access. */
async function readRefusal (response: Response, url: string): Promise<AsyncIterator<Received, undefined>> {
  const { status } = response
  const [body] = parseAll(await readAnswerText(response, MAX_ANSWER_LENGTH).catch(() => ''))
  const error = isObject(body) && isObject(body.error) ? body.error : undefined
  const detail = typeof error?.message === 'string' ? error.message : undefined
  const isMessage = body !== undefined && typeof error?.code === 'number'
  if (!isMessage || status === 401 || status >= 500) throw toStatusError(url, status, detail)
  return toMessages([body])
}

async function * toMessages (messages: readonly Received[]): AsyncGenerator<Received, undefined> {
  yield * messages
}

/** Ends when the connection does, for whatever reason. */
async function * readUntilClosed (response: Response, url: string): AsyncGenerator<Received, undefined> {
  try {
    yield * readMessages(response, url)
  } catch {
    // The call goes on without the stream.
  }
}

async function * readMessages (response: Response, url: string): AsyncGenerator<Received, undefined> {
  try {
    for await (const text of readMessageTexts(response, MAX_ANSWER_LENGTH)) yield * parseAll(text)
  } catch (error) {
    throw toConnectionError(url, error)
  }
}

/** The messages of a text: one, several in a batch, or none if it is no JSON. */
function parseAll (text: string): Received[] {
  try {
    return [JSON.parse(text)].flat().filter(isObject)
  } catch {
    return []
  }
}

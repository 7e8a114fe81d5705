// What an official client sends over HTTP, noted and cut at its `fetch`: the client itself knows nothing of
// it.

import type { Message } from '../helpers/request.ts'

/** One HTTP request of a client. */
export interface Exchange {
  readonly httpMethod: string
  /** Of the message that it carries; `response` where that answers the service. */
  readonly method: string | undefined
  readonly params: Message
  readonly lastEventId: string | undefined
  /** Once the answer has begun. */
  status: number | undefined
  isStream: boolean
  /** Destroys the connection, as a network does that fails. */
  cut (): void
}

export class Wire {
  readonly exchanges: Exchange[] = []
  readonly #revision: string | undefined

  /** @param revision that `initialize` asks for, in place of the client's own choice. */
  constructor (revision?: string) {
    this.#revision = revision
  }

  /** Of those with the method, of JSON-RPC or of HTTP, the last one. */
  last (method: string): Exchange | undefined {
    return this.exchanges.findLast((exchange) => exchange.method === method || exchange.httpMethod === method)
  }

  count (method: string): number {
    return this.exchanges.filter(
      (exchange) => exchange.method === method || exchange.httpMethod === method
    ).length
  }

  /** The stream on which the session hears of changes, once it is open. */
  get standalone (): Exchange | undefined {
    return this.exchanges.findLast(
      ({ httpMethod, lastEventId, status }) => httpMethod === 'GET' && status === 200 &&
        lastEventId?.startsWith('c.') !== true
    )
  }

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const breaking = new AbortController()
    const message: Message = typeof init.body === 'string' ? JSON.parse(init.body) : {}
    if (message.method === 'initialize' && this.#revision !== undefined) {
      message.params.protocolVersion = this.#revision
    }
    const exchange: Exchange = {
      httpMethod: init.method ?? 'GET',
      method: message.method ?? ('id' in message ? 'response' : undefined),
      params: message.params,
      lastEventId: new Headers(init.headers).get('last-event-id') ?? undefined,
      status: undefined,
      isStream: false,
      cut: () => breaking.abort()
    }
    this.exchanges.push(exchange)
    const signal = AbortSignal.any([breaking.signal, ...(init.signal ? [init.signal] : [])])
    const response = await fetch(url, {
      ...init, ...(typeof init.body === 'string' && { body: JSON.stringify(message) }), signal
    })
    exchange.status = response.status
    exchange.isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    return response
  }
}

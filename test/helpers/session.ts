// A client of an earlier revision over node:http. It records every message and answers none by itself.

import { request as openRequest, type IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { BegunAnswer } from './begun-answer.ts'
import { within } from './deadline.ts'
import type { Message } from './request.ts'
import { checkSent } from './wire-schema.ts'

export const LEGACY_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
const EVERYTHING = {
  elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: { listChanged: true }
}

export type Headers = { readonly [name: string]: string | undefined }

/** One event of a stream. `data` is empty if the event only carries an id. */
export interface StreamEvent { readonly id?: string, readonly data?: string, readonly retry?: string }

/** An answer that has begun. */
export class SessionReply extends BegunAnswer {
  readonly events: StreamEvent[] = []
  /** The body, if it is not an event stream. */
  text = ''
  readonly #check: (message: Message) => void
  #rest = ''

  constructor (incoming: IncomingMessage, check: (message: Message) => void) {
    super(incoming)
    this.#check = check
    incoming.on('data', (chunk: string) => {
      if (this.isStream) this.#take(chunk)
      else this.text += chunk
    })
    incoming.on('close', () => {
      this.isComplete = incoming.complete
      this.hasEnded = true
      // A refusal of the HTTP server itself is not a message.
      if (this.text !== '' && incoming.complete && this.status !== 431) {
        for (const message of [JSON.parse(this.text)].flat()) this.#keep(message)
      }
    })
  }

  get result (): Message { return this.response?.result }

  get error (): Message { return this.response?.error }

  /** The id of the last event with an id. */
  get lastEventId (): string { return this.events.findLast(({ id }) => id !== undefined)?.id ?? '' }

  #take (chunk: string): void {
    const blocks = (this.#rest + chunk).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block === ':') this.comments++
      else {
        this.#hear(Object.fromEntries(block.split('\n').map((line) => {
          const [, field = '', value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
          return [field, value]
        })))
      }
    }
  }

  #hear (event: StreamEvent): void {
    this.events.push(event)
    if (event.data !== undefined && event.data !== '') this.#keep(JSON.parse(event.data))
  }

  #keep (message: Message): void {
    this.#check(message)
    this.messages.push(message)
  }
}

export interface SessionOptions {
  readonly revision?: string
  readonly capabilities?: object
  /** Sent with every request. */
  readonly headers?: Headers
}

export class SessionClient {
  readonly #test: Test
  readonly #methods: Map<string | number, string>
  readonly #headers: Headers
  url: string
  revision: string
  token: string | undefined
  /** The result of `initialize`. */
  initialized: Message
  #lastId = 0

  constructor (
    t: Test, url: string, { revision = '2025-11-25', headers = {} }: SessionOptions = {},
    methods = new Map<string | number, string>()
  ) {
    this.#test = t
    this.#methods = methods
    this.url = url
    this.revision = revision
    this.#headers = headers
  }

  nextId (): number { return ++this.#lastId }

  /** A request as it is sent. Its method is recorded, because it decides the schema of the response. */
  toRequest (method: string, params: object | undefined, id: string | number = this.nextId()): object {
    this.#methods.set(id, method)
    return { jsonrpc: '2.0', id, method, params }
  }

  async http (method: string, body?: string, headers: Headers = {}): Promise<SessionReply> {
    const all: Headers = {
      accept: 'application/json, text/event-stream',
      'content-type': body === undefined ? undefined : 'application/json',
      'content-length': body === undefined ? undefined : String(Buffer.byteLength(body)),
      'mcp-session-id': this.token,
      'mcp-protocol-version': this.token === undefined || this.revision < '2025-06-18'
        ? undefined
        : this.revision,
      ...this.#headers,
      ...headers
    }
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const request = openRequest(this.url, { method, agent: false, headers: sent })
    this.#test.teardown(() => { request.destroy() })
    return await within(new Promise<SessionReply>((resolve, reject) => {
      request.on('error', reject)
      request.on(
        'response', (response) => resolve(new SessionReply(response, (message) => this.#check(message)))
      )
      request.end(body)
    }), 'an answer')
  }

  /** Sends messages and resolves when the answer begins. */
  async post (body: unknown, headers?: Headers): Promise<SessionReply> {
    return await this.http('POST', typeof body === 'string' ? body : JSON.stringify(body), headers)
  }

  /** Sends a request and resolves when the answer begins. */
  async start (method: string, params?: object, id?: string | number): Promise<SessionReply> {
    return await this.post(this.toRequest(method, params, id))
  }

  /** Sends a request and resolves when the answer has ended. */
  async request (method: string, params?: object, id?: string | number): Promise<SessionReply> {
    return await (await this.start(method, params, id)).ended()
  }

  /** Calls a tool and resolves when the answer begins. */
  async startCall (
    name: string, args: object = {}, { id, meta }: { id?: string | number, meta?: object } = {}
  ): Promise<SessionReply> {
    return await this.start(
      'tools/call', { name, arguments: args, ...(meta !== undefined && { _meta: meta }) }, id
    )
  }

  async call (
    name: string, args: object = {}, options: { id?: string | number, meta?: object } = {}
  ): Promise<SessionReply> {
    return await (await this.startCall(name, args, options)).ended()
  }

  async notify (method: string, params?: object): Promise<SessionReply> {
    return await (await this.post({ jsonrpc: '2.0', method, params })).ended()
  }

  /** Answers a request of the service. */
  async answer (id: unknown, result: unknown): Promise<SessionReply> {
    return await (await this.post({ jsonrpc: '2.0', id, result })).ended()
  }

  async get (headers?: Headers): Promise<SessionReply> {
    return await this.http('GET', undefined, headers)
  }

  async end (): Promise<SessionReply> {
    return await (await this.http('DELETE')).ended()
  }

  /** Another client of the same session, with these changes. */
  with (
    { url = this.url, token = this.token, headers = this.#headers }: {
      url?: string
      token?: string
      headers?: Headers
    }
  ): SessionClient {
    const other = new SessionClient(this.#test, url, { revision: this.revision, headers }, this.#methods)
    other.token = token
    return other
  }

  #check (message: Message): void {
    checkSent(message, this.revision, 'method' in message ? undefined : this.#methods.get(message.id))
  }
}

/** Opens a session. */
export async function openSession (
  t: Test, url: string, options: SessionOptions = {}
): Promise<SessionClient> {
  const client = new SessionClient(t, url, options)
  const reply = await client.request('initialize', {
    protocolVersion: client.revision,
    capabilities: options.capabilities ?? EVERYTHING,
    clientInfo: { name: 'test', version: '1.0.0' }
  })
  const token = reply.headers['mcp-session-id']
  if (reply.status !== 200 || typeof token !== 'string') {
    throw new Error(`no session: ${reply.status} ${reply.text}`)
  }
  client.initialized = reply.result
  client.token = token
  await client.notify('notifications/initialized')
  return client
}

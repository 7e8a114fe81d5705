// Sends requests to the endpoint, as any client of the current revision does: each is one POST, whose answer
// is JSON or an event stream.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import { cut } from '../../../../base/text.ts'
import {
  MEDIA_TYPES, readMessageTexts, toRequestHeaders
} from '../../../../platform/protocol/client-requests.ts'
import type { LogLevel } from '../../../../platform/protocol/log-levels.ts'
import { CURRENT_REVISION } from '../../../../platform/protocol/revisions.ts'
import { forgetToken, toAuthorization, toCapabilities, type PageCaller } from './caller.ts'
import { consoleState } from './console-state.ts'
import { isRecord, type JsonObject } from './json.ts'

/** A request as it went out. */
export interface SentRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly message: JsonObject
}

export interface ServiceNotification { readonly method: string, readonly params: JsonObject }

export interface RequestOptions {
  readonly caller: PageCaller
  readonly signal?: AbortSignal
  /** Without it the service sends no log messages. */
  readonly logLevel?: LogLevel
  /** The schema of the tool that is called: some of its arguments are mirrored in headers. */
  readonly inputSchema?: unknown
  readonly onSent?: (request: SentRequest) => void
  readonly onNotification?: (notification: ServiceNotification) => void
}

/** The service answered with an error, or not at all. */
export class RequestFailure extends Error {
  /** The code of JSON-RPC. `undefined` if the answer was no JSON-RPC. */
  readonly code: number | undefined
  readonly data: unknown
  /** The HTTP status. */
  readonly status: number
  /** The scopes that the service asks for. */
  readonly scopes: readonly string[]

  constructor (
    message: string, status: number, facts: { code?: number, data?: unknown, scopes?: readonly string[] } = {}
  ) {
    super(message)
    this.code = facts.code
    this.data = facts.data
    this.status = status
    this.scopes = facts.scopes ?? []
  }
}

let lastId = 0

/** Sends a request and resolves to its result. Rejects with a RequestFailure. */
export async function request<T> (method: string, params: JsonObject, options: RequestOptions): Promise<T> {
  const { caller, signal, onSent, onNotification } = options
  for (let attempt = 1; ; attempt++) {
    const request = await toSentRequest(method, params, options)
    onSent?.(request)
    const response = await fetch(request.url, {
      method: 'POST',
      headers: request.headers,
      body: JSON.stringify(request.message),
      cache: 'no-store',
      credentials: 'omit',
      ...signal && { signal }
    })
    if (response.status === 401 && caller.identity !== undefined && attempt === 1) {
      forgetToken(caller.identity)
      continue
    }
    return await readResult<T>(response, onNotification)
  }
}

async function toSentRequest (
  method: string, params: JsonObject, { caller, logLevel, inputSchema }: RequestOptions
): Promise<SentRequest> {
  const { endpoint = '/mcp', version = '0' } = consoleState.value ?? {}
  const id = ++lastId
  const authorization = await toAuthorization(caller.identity)
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': CURRENT_REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'trivet-console', version },
    'io.modelcontextprotocol/clientCapabilities': toCapabilities(caller.abilities),
    ...logLevel && { 'io.modelcontextprotocol/logLevel': logLevel },
    progressToken: id
  }
  return {
    url: new URL(endpoint, location.href).href,
    headers: {
      ...MEDIA_TYPES,
      ...toRequestHeaders(method, params, inputSchema),
      ...authorization !== undefined && { authorization }
    },
    message: { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
  }
}

async function readResult<T> (
  response: Response, onNotification: RequestOptions['onNotification']
): Promise<T> {
  const results: T[] = []
  const take = (text: string) => {
    const parsed: { readonly result: T } = JSON.parse(text)
    const message: unknown = parsed
    if (!isRecord(message)) return
    if (isRecord(message.error)) throw toFailure(message.error, response)
    if ('result' in message) results.push(parsed.result)
    else if (typeof message.method === 'string') {
      onNotification?.({ method: message.method, params: isRecord(message.params) ? message.params : {} })
    }
  }
  const type = response.headers.get('content-type') ?? ''
  if (!/^(?:text\/event-stream|application\/json)/.test(type)) {
    throw toFailure({ message: await describeBody(response) }, response)
  }
  for await (const text of readMessageTexts(response, Infinity)) take(text)
  const [result] = results
  if (result === undefined) throw new RequestFailure('The answer ended without a result.', response.status)
  return result
}

async function describeBody (response: Response): Promise<string> {
  const text = (await response.text()).trim()
  return text === '' ? `HTTP ${response.status} without a body` : cut(text, 2000)
}

function toFailure ({ code, message, data }: JsonObject, response: Response): RequestFailure {
  const scope = /\bscope="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1] ?? ''
  return new RequestFailure(String(message), response.status, {
    ...typeof code === 'number' && { code }, data, scopes: scope.split(' ').filter((name) => name !== '')
  })
}

// JSON-RPC 2.0 with the limits of MCP: a message is one request or one notification, and an id is never null.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages

import { toWellFormedJson } from '../../base/text.ts'
import { ProtocolError, invalidRequest } from './errors.ts'

export type RequestId = string | number

export type Params = { readonly [key: string]: unknown }

export interface Request {
  readonly id: RequestId
  readonly method: string
  readonly params: Params | undefined
}

export interface Notification { readonly method: string, readonly params: Params | undefined }

export type Message = Request | Notification

export function isRequest (message: Message): message is Request {
  return 'id' in message
}

export function isObject (value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns `undefined` for a text that is no JSON. */
export function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An id that is not well-formed could not be answered: the answer must have the same id. */
export function isRequestId (value: unknown): value is RequestId {
  return typeof value === 'string' ? value.isWellFormed() : Number.isSafeInteger(value)
}

/** Whether the body is a response to a request that the other side sent. */
export function isResponse (body: { readonly [key: string]: unknown }): boolean {
  return typeof body.method !== 'string' && ('result' in body || 'error' in body)
}

/**
 * Reads the id of a body that may be malformed, so that a refused request is answered under it. `undefined`
 * when the body has no usable id, and for a response: its id names a request of the other side.
 */
export function readRequestId (body: unknown): RequestId | undefined {
  return isObject(body) && !isResponse(body) && isRequestId(body.id) ? body.id : undefined
}

/** Parses one message. Throws an invalid request that names the wrong member. */
export function readMessage (body: unknown): Message {
  if (Array.isArray(body)) {
    throw invalidRequest('batches are not part of this protocol version; send one message per POST')
  }
  if (!isObject(body)) throw invalidRequest('the body must be a JSON object')
  if (body.jsonrpc !== '2.0') throw invalidRequest('"jsonrpc" must be "2.0"')
  const { method, params } = body
  if (isResponse(body)) throw invalidRequest('a server does not accept responses')
  if (typeof method !== 'string') throw invalidRequest('"method" must be a string')
  if (params !== undefined && !isObject(params)) throw invalidRequest('"params" must be an object')
  if (!('id' in body)) return { method, params }
  if (!isRequestId(body.id)) throw invalidRequest('"id" must be an integer or well-formed text')
  return { id: body.id, method, params }
}

/** A response with bytes that are ready. They stand between two texts, and are not copied. */
export class ReadyResponse {
  readonly head: string
  readonly result: Buffer
  readonly tail = '}'

  constructor (head: string, result: Buffer) {
    this.head = head
    this.result = result
  }

  /** In bytes. */
  get length (): number { return Buffer.byteLength(this.head) + this.result.length + this.tail.length }

  toBuffer (): Buffer { return Buffer.concat([Buffer.from(this.head), this.result, Buffer.from(this.tail)]) }

  toString (): string { return this.head + this.result.toString() + this.tail }
}

/**
 * Writes an answer that is well-formed, as all messages here.
 * @param result as JSON. It is not parsed again: results are serialised once. Bytes are well-formed already.
 */
export function toResultResponse (id: RequestId, result: string): string
export function toResultResponse (id: RequestId, result: Buffer): ReadyResponse
export function toResultResponse (id: RequestId, result: string | Buffer): string | ReadyResponse
export function toResultResponse (id: RequestId, result: string | Buffer): string | ReadyResponse {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
  return typeof result === 'string'
    ? toWellFormedJson(head + result + '}')
    : new ReadyResponse(head, result)
}

/** Writes an answer. It has no `id` where the id is `undefined`: the specification allows no null id. */
export function toErrorResponse (id: RequestId | undefined, { code, message, data }: ProtocolError): string {
  const idMember = id === undefined ? '' : `"id":${JSON.stringify(id)},`
  const dataJson: string | undefined = JSON.stringify(data)
  const dataMember = dataJson === undefined ? '' : `,"data":${dataJson}`
  const error = `{"code":${code},"message":${JSON.stringify(message)}${dataMember}}`
  return toWellFormedJson(`{"jsonrpc":"2.0",${idMember}"error":${error}}`)
}

export function toRequest (id: RequestId, method: string, params: Params): string {
  return toWellFormedJson(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
}

export function toNotification (method: string, params?: Params): string {
  return toWellFormedJson(JSON.stringify({ jsonrpc: '2.0', method, params }))
}

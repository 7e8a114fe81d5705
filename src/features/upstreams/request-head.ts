// The headers of a call, and its body: what a handler may set, and what it may not.

import type { UpstreamInit } from '../../platform/author/upstream-fetch.ts'
import { toWellFormedJson } from '../../base/text.ts'
import { clip, quote } from '../../base/words.ts'

/** Headers by their names in lower case. */
export interface HeaderValues { [name: string]: string }

export interface CallBody {
  readonly bytes: Uint8Array | string
  /** What it says of its type, if the handler says nothing. */
  readonly type: string | undefined
}

/** Headers of the connection and of the framing of messages: undici decides them. */
const OWN = new Set([
  'connection', 'content-length', 'expect', 'host', 'http2-settings', 'keep-alive', 'te', 'trailer',
  'transfer-encoding', 'upgrade'
])
/** Whether a header, in lower case, is one of the connection: nobody sets it. */
export const isOfConnection = (name: string): boolean => OWN.has(name) || name.startsWith('proxy-')

/** RFC 9110, section 5.1. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
/** RFC 9110, section 5.5. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Throws a TypeError for a header that a handler may not set. No error quotes a value. */
export function readHeaders (headers: UpstreamInit['headers']): HeaderValues {
  const values: HeaderValues = {}
  if (headers === undefined) return values
  for (const [name, value] of toEntries(headers)) {
    if (value === undefined) continue
    const key = name.toLowerCase()
    if (!HEADER_NAME.test(name)) throw new TypeError(`fetch: ${quote(name)} is no name of a header`)
    if (isOfConnection(key)) {
      throw new TypeError(`fetch: the header ${key} cannot be set`)
    }
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new TypeError(`fetch: the header ${clip(key)} must be a text`)
    }
    const text = String(value)
    if (!HEADER_VALUE.test(text)) {
      throw new TypeError(`fetch: the header ${clip(key)} has characters that no header can have`)
    }
    values[key] = text
  }
  return values
}

function toEntries (headers: unknown): Iterable<[string, unknown]> {
  if (headers instanceof Headers) return headers
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) {
    throw new TypeError('fetch: headers must be a Headers, or an object with a text for each name')
  }
  return Object.entries(headers)
}

/** What decides the headers of a call, beside its credential. */
interface CallHead {
  readonly headers: HeaderValues
  /** The media types that the handler can read. */
  readonly accept: string | undefined
  readonly body: CallBody | undefined
}

/**
 * Adds the headers of the credential, and the defaults that neither it nor the handler has. Throws a
 * TypeError for a header that both set.
 */
export function addCredential (
  { headers, accept, body }: CallHead, credential: Readonly<HeaderValues>, name: string
): HeaderValues {
  const ownHeader = Object.keys(credential).find((key) => Object.hasOwn(headers, key))
  if (ownHeader !== undefined) {
    throw new TypeError(`fetch: the header ${ownHeader} is set by auth of the upstream ${name}`)
  }
  const all: HeaderValues = { ...headers, ...credential }
  all.accept ??= accept ?? '*/*'
  all['accept-encoding'] ??= 'gzip, br'
  all['user-agent'] ??= 'trivet'
  if (body?.type !== undefined) all['content-type'] ??= body.type
  return all
}

const METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
/** RFC 9110, section 9.2.2. */
const IDEMPOTENT = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT'])

export const isIdempotent = (method: string): boolean => IDEMPOTENT.has(method)

/** Throws a TypeError for a method that a handler may not use. */
export function readMethod (method: string): string {
  const name = String(method).toUpperCase()
  if (!METHODS.has(name)) {
    throw new TypeError(`fetch: method must be one of ${[...METHODS].join(', ')}, got ${quote(name)}`)
  }
  return name
}

/** Throws a TypeError for a body that is not one, or that the method does not have. */
export function readCallBody (
  init: UpstreamInit, method: string
): CallBody | undefined | Promise<CallBody> {
  const { json } = init
  const body = init.body ?? undefined
  if (body === undefined && json === undefined) return undefined
  if (body !== undefined && json !== undefined) throw new TypeError('fetch: give either body or json')
  if (method === 'GET' || method === 'HEAD') throw new TypeError(`fetch: ${method} has no body`)
  if (json !== undefined) return { bytes: toJson(json), type: 'application/json' }
  if (typeof body === 'string') return { bytes: body, type: 'text/plain;charset=UTF-8' }
  // A copy: the handler may change its bytes before they are sent again.
  if (body instanceof Uint8Array) return { bytes: new Uint8Array(body), type: undefined }
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body.slice()), type: undefined }
  if (body instanceof URLSearchParams) {
    return { bytes: body.toString(), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
  }
  if (body instanceof FormData || body instanceof Blob) return readForm(body)
  throw new TypeError('fetch: body must be a text, bytes, URLSearchParams, FormData or a Blob')
}

function toJson (value: unknown): string {
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new TypeError('fetch: json must be a value that JSON can represent')
  return toWellFormedJson(text)
}

async function readForm (body: FormData | Blob): Promise<CallBody> {
  const encoded = new Response(body)
  return {
    bytes: new Uint8Array(await encoded.arrayBuffer()), type: encoded.headers.get('content-type') ?? undefined
  }
}

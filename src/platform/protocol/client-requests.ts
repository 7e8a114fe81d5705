// What a client sends and reads over Streamable HTTP: for the commands, and for the page of the console. A
// browser runs it too.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import { createParser } from 'eventsource-parser'
import { CURRENT_REVISION } from './revisions.ts'

type JsonMembers = { readonly [name: string]: unknown }

/** The member of the params that the header `Mcp-Name` mirrors, by method. */
const MIRRORED_NAMES: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId'
}

/** The media types of each POST. */
export const MEDIA_TYPES = {
  'content-type': 'application/json', accept: 'application/json, text/event-stream'
}

/** @param inputSchema of the tool that is called: arguments may be mirrored in headers. */
export function toRequestHeaders (
  method: string, params: JsonMembers, inputSchema: unknown
): { readonly [header: string]: string } {
  const name = params[MIRRORED_NAMES[method] ?? '']
  return {
    'mcp-protocol-version': CURRENT_REVISION,
    'mcp-method': method,
    ...typeof name === 'string' && { 'mcp-name': toHeaderValue(name) },
    ...toParamHeaders(inputSchema, params.arguments)
  }
}

/** RFC 9110: a token is one or more tchar. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** The types of schemas whose values may be mirrored. */
const MIRRORED_TYPES: readonly unknown[] = ['string', 'integer', 'boolean']

/** Only `properties` lead to a mirrored value. An annotation that is not valid is passed over. */
function toParamHeaders (
  schema: unknown, value: unknown, headers: { [header: string]: string } = {}
): { readonly [header: string]: string } {
  if (!hasMembers(schema) || !hasMembers(schema.properties) || !hasMembers(value)) return headers
  for (const [key, property] of Object.entries(schema.properties)) {
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    const { type, 'x-mcp-header': header } = hasMembers(property) ? property : {}
    const isMirrored = typeof header === 'string' && TOKEN.test(header) && MIRRORED_TYPES.includes(type)
    if (isMirrored && ['string', 'number', 'boolean'].includes(typeof member)) {
      headers[`mcp-param-${header.toLowerCase()}`] ??= toHeaderValue(String(member))
    }
    toParamHeaders(property, member, headers)
  }
  return headers
}

/** Returns the text itself, or the base64 sentinel where a header cannot hold the text. */
function toHeaderValue (text: string): string {
  const isLiteral = /^[\t\x20-\x7e]*$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/s.test(text)
  if (isLiteral) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}

/** Does what `isObject` of json-rpc.ts does. That file imports modules of Node, which a browser lacks. */
function hasMembers (value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads the JSON texts of an answer: its body, or one of each event as it comes. Another media type has none.
 * @param maxLength of the body or of an event, in characters. Throws an Error for a longer one.
 */
export async function * readMessageTexts (
  response: Response, maxLength: number
): AsyncGenerator<string, undefined> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) yield await readAnswerText(response, maxLength)
  else if (type.startsWith('text/event-stream')) yield * readEvents(response, maxLength)
  else await response.body?.cancel()
}

async function * readEvents (response: Response, maxBufferSize: number): AsyncGenerator<string> {
  let texts: string[] = []
  const parser = createParser({
    maxBufferSize,
    onEvent: ({ data }) => { texts.push(data) },
    onError ({ type }) { if (type === 'max-buffer-size-exceeded') throw toTooLong(maxBufferSize) }
  })
  for await (const chunk of readChunks(response)) {
    parser.feed(chunk)
    yield * texts
    texts = []
  }
}

/** Throws an Error for a longer body. */
export async function readAnswerText (response: Response, maxLength: number): Promise<string> {
  let body = ''
  for await (const chunk of readChunks(response)) {
    body += chunk
    if (body.length > maxLength) throw toTooLong(maxLength)
  }
  return body
}

async function * readChunks ({ body }: Response): AsyncGenerator<string> {
  if (body === null) return
  // Chrome before 124 cannot iterate a body.
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield decoder.decode(part.value, { stream: true })
    }
  } finally {
    await reader.cancel()
  }
}

const toTooLong = (length: number) => new Error(`its answer is longer than ${length} characters`)

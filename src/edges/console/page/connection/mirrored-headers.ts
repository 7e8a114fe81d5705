// The headers that mirror values of the body, as a client must send them.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import { MIRRORED_NAMES } from '../../../../platform/protocol/mirrored-names.ts'
import { isRecord, type JsonObject } from './json.ts'

/** @param inputSchema of the tool that is called. */
export function toMirroredHeaders (
  method: string, params: JsonObject, inputSchema: unknown
): { readonly [header: string]: string } {
  const name = params[MIRRORED_NAMES[method] ?? '']
  return {
    ...typeof name === 'string' && { 'mcp-name': encodeForHeader(name) },
    ...toParamHeaders(inputSchema, params.arguments)
  }
}

/** Only `properties` lead to a mirrored value. */
function toParamHeaders (schema: unknown, value: unknown): { [header: string]: string } {
  if (!isRecord(schema) || !isRecord(schema.properties) || !isRecord(value)) return {}
  const headers: { [header: string]: string } = {}
  for (const [key, property] of Object.entries(schema.properties)) {
    const member = value[key]
    const header = isRecord(property) ? property['x-mcp-header'] : undefined
    if (typeof header === 'string' && ['string', 'number', 'boolean'].includes(typeof member)) {
      headers[`mcp-param-${header.toLowerCase()}`] = encodeForHeader(String(member))
    }
    Object.assign(headers, toParamHeaders(property, member))
  }
  return headers
}

/** Returns the text itself, or the base64 sentinel where a header cannot hold the text. */
function encodeForHeader (text: string): string {
  const isLiteral = /^[\t\x20-\x7e]*$/.test(text) && text.trim() === text && !/^=\?base64\?.*\?=$/s.test(text)
  if (isLiteral) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}

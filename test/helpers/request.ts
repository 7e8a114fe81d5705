// Modern requests as a conforming client sends them, and what comes back.

import type { FastifyInstance } from 'fastify'
import { checkSent } from './wire-schema.ts'

export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

export interface RequestParts {
  readonly method: string
  readonly params?: { readonly [key: string]: unknown }
  /** Merged into the envelope; a value of `undefined` takes the key out. */
  readonly meta?: { readonly [key: string]: unknown }
  /** Merged into the headers; a value of `undefined` takes the header out. */
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly id?: string | number
}

export interface ToSend { readonly headers: { [name: string]: string }, readonly body: string }

/** The headers and the body of a conforming POST, with what the test changes. */
export function toPost ({ method, params = {}, meta = {}, headers = {}, id = 1 }: RequestParts): ToSend {
  const name = params.name ?? params.uri
  const named = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && typeof name === 'string'
  const all: { [name: string]: string | undefined } = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(named ? { 'mcp-name': name } : {}),
    ...headers
  }
  const sent: { [name: string]: string } = {}
  for (const [key, value] of Object.entries(all)) if (value !== undefined) sent[key] = value
  return {
    headers: sent,
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } })
  }
}

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: unknown }
  /** Every JSON-RPC message of the answer, the response last. */
  readonly messages: readonly Message[]
  /** The response, which is the last message. */
  readonly response: Message
}

// The tests look into answers of every form: what is absent must read as undefined, not as a type error.
export type Message = any

/** Sends a request in process. Throws where its answer has something that the revision does not have. */
export async function send (app: FastifyInstance, parts: RequestParts, path = '/mcp'): Promise<Answer> {
  const { headers, body } = toPost(parts)
  const { statusCode, headers: received, body: text } = await app.inject({
    method: 'POST', url: path, headers, body
  })
  const messages = readMessages(text, String(received['content-type'] ?? ''))
  for (const message of messages) {
    checkSent(message, META['io.modelcontextprotocol/protocolVersion'], parts.method)
  }
  return { status: statusCode, headers: received, messages, response: messages.at(-1) }
}

/** The messages of a body: one of JSON, any number of an event stream. */
export function readMessages (text: string, contentType: string): Message[] {
  if (text === '') return []
  if (!contentType.startsWith('text/event-stream')) return [JSON.parse(text)]
  return text.split('\n\n').flatMap(
    (event) => event.startsWith('data: ') ? [JSON.parse(event.slice('data: '.length))] : []
  )
}

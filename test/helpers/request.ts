// Modern requests as a conforming client sends them, and their answers.

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
  /** Merged into the envelope. A value of `undefined` removes the key. */
  readonly meta?: { readonly [key: string]: unknown }
  /** Merged into the headers. A value of `undefined` removes the header. */
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly id?: string | number
}

export interface ToSend { readonly headers: { [name: string]: string }, readonly body: string }

const NAMED = /^(?:tools\/call|prompts\/get|resources\/read|tasks\/.*)$/

/** The headers and the body of a conforming POST, with the changes of the test. */
export function toPost ({ method, params = {}, meta = {}, headers = {}, id = 1 }: RequestParts): ToSend {
  const name = params.name ?? params.uri ?? params.taskId
  const named = NAMED.test(method) && typeof name === 'string'
  const all: { [name: string]: string | undefined } = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(named ? { 'mcp-name': toHeaderValue(name) } : {}),
    ...headers
  }
  const sent: { [name: string]: string } = {}
  for (const [key, value] of Object.entries(all)) if (value !== undefined) sent[key] = value
  return {
    headers: sent,
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...META, ...meta } } })
  }
}

/** A text that a header cannot hold is encoded. */
function toHeaderValue (text: string): string {
  const isLiteral = /^[ -~]*$/.test(text) && text.trim() === text
  return isLiteral ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: unknown }
  /** Every JSON-RPC message of the answer, the response last. */
  readonly messages: readonly Message[]
  /** The response: the last message. */
  readonly response: Message
}

// `any`: the tests read answers of every form, and an absent member must be `undefined`, not a type error.
export type Message = any

/** Sends a request in process. Throws if the answer breaks the schema of its revision. */
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

/** The messages of a body. A JSON body has one, an event stream any number. */
export function readMessages (text: string, contentType: string): Message[] {
  if (text === '') return []
  if (!contentType.startsWith('text/event-stream')) return [JSON.parse(text)]
  return text.split('\n\n').flatMap(
    (event) => event.startsWith('data: ') ? [JSON.parse(event.slice('data: '.length))] : []
  )
}

/** The members of a WWW-Authenticate header of the scheme Bearer. */
export function readChallenge (header: unknown): { [name: string]: string } {
  const [, members = ''] = /^Bearer(?: (.*))?$/.exec(String(header)) ?? []
  return Object.fromEntries([...members.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
}

// A service as a client reaches it, whatever revision it speaks.

import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { ProtocolError } from '../../../platform/protocol/errors.ts'
import { isObject, isResponse } from '../../../platform/protocol/json-rpc.ts'
import type { Implementation } from '../../../platform/protocol/primitives.ts'
import type { Reply, TestRequest } from '../../testing/exchange.ts'
import { ConnectionError } from './connection-error.ts'
import type { Endpoint, EndpointAnswer, Received } from './endpoint.ts'

/** The client that asks, and what it can do for a handler. */
export interface ClientFacts { readonly info: Implementation, readonly capabilities: ClientCapabilities }

export interface RemoteService {
  /**
   * Rejects with a ConnectionError. A question of the handler is a result of type `input_required`: send the
   * request again with its `inputResponses`, and the `requestState` of the result.
   * @param onNotification is called with each notification about the request, as JSON.
   */
  send (request: TestRequest, onNotification: (json: string) => void): Promise<Reply>
  /** Never rejects. */
  close (): Promise<void>
}

/** The lists, by method. A service that has no primitives of a kind may not know the method. */
const LISTS: { readonly [method: string]: string } = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'skills/list': 'skills'
}

const METHOD_NOT_FOUND = -32601

/** @param message the response to a request of this method. */
export function toReply ({ result, error }: Received, method: string): Reply {
  if (!isObject(error)) return { json: JSON.stringify(result) }
  const list = LISTS[method]
  if (error.code === METHOD_NOT_FOUND && list !== undefined) return { json: JSON.stringify({ [list]: [] }) }
  return { error: new ProtocolError(Number(error.code), String(error.message), { data: error.data }) }
}

/** Reports a notification about a request: its progress, or a message for the log. */
export function reportNotification (message: Received, onNotification: (json: string) => void): void {
  const { method, params } = message
  const isWanted = method === 'notifications/progress' || method === 'notifications/message'
  if (isWanted && isObject(params)) onNotification(JSON.stringify(message))
}

/** The response of an answer that has no questions. */
export async function readReply (
  { url }: Pick<Endpoint, 'url'>, method: string, { messages, status }: EndpointAnswer,
  onNotification: (json: string) => void = () => {}
): Promise<Reply> {
  for (;;) {
    const { value: message, done } = await messages.next()
    if (done === true) throw toNoResponse(url, status)
    if (isResponse(message)) return toReply(message, method)
    reportNotification(message, onNotification)
  }
}

export function toNoResponse (url: string, status: number): ConnectionError {
  return new ConnectionError(
    `Cannot use ${url}: its answer (HTTP ${status}) has no JSON-RPC response; is it an MCP endpoint?`
  )
}

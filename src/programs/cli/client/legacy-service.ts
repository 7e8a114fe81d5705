// A service of the legacy era: a session, which begins with `initialize`. A question of a handler is a
// request on the stream of the call, or on that of the session; it becomes a result of type `input_required`,
// as in the modern era. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports

import { isObject, isResponse } from '../../../platform/protocol/json-rpc.ts'
import { CURRENT_REVISION, LATEST_LEGACY_REVISION } from '../../../platform/protocol/revisions.ts'
import type { Reply } from '../../testing/exchange.ts'
import { ConnectionError } from './connection-error.ts'
import type { Endpoint, EndpointAnswer, Received } from './endpoint.ts'
import {
  readReply, reportNotification, toNoResponse, toReply, type ClientFacts, type RemoteService
} from './remote-service.ts'

/** A call that waits for the answer to a question. */
interface WaitingCall { readonly call: Incoming, readonly questionId: unknown, readonly key: string }

/** The messages of one stream. A message that was not taken is there the next time. */
class Incoming {
  readonly status: number
  readonly #messages: EndpointAnswer['messages']
  #next: Promise<{ readonly from: Incoming, readonly message: Received | undefined }> | undefined

  constructor ({ messages, status }: Pick<EndpointAnswer, 'messages' | 'status'>) {
    this.status = status
    this.#messages = messages
  }

  /** Resolves to no message when the stream has ended. */
  peek () {
    this.#next ??= this.#messages.next().then(({ value }) => ({ from: this, message: value }))
    return this.#next
  }

  take (): void { this.#next = undefined }
}

const ASKING_METHODS = ['tools/call', 'prompts/get', 'resources/read']
const QUESTIONS = ['elicitation/create', 'sampling/createMessage', 'roots/list']

/** Rejects with a ConnectionError if the service refuses the handshake. */
export async function openLegacyService (endpoint: Endpoint, client: ClientFacts): Promise<RemoteService> {
  const params = {
    protocolVersion: LATEST_LEGACY_REVISION, capabilities: client.capabilities, clientInfo: client.info
  }
  const started = await endpoint.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {})
  const reply = await readReply(endpoint, 'initialize', started)
  if ('error' in reply) {
    throw new ConnectionError(`Cannot use ${endpoint.url}: it speaks neither revision ${CURRENT_REVISION} ` +
      `nor an earlier one: ${reply.error.message}`)
  }
  const { protocolVersion }: { readonly protocolVersion: unknown } = JSON.parse(reply.json)
  const headers = {
    'mcp-protocol-version': String(protocolVersion),
    ...started.sessionId !== undefined && { 'mcp-session-id': started.sessionId }
  }
  await endpoint.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
  return createSession(endpoint, client, headers)
}

function createSession (
  endpoint: Endpoint, { capabilities }: ClientFacts, headers: { readonly [name: string]: string }
): RemoteService {
  let count = 0
  let waiting: WaitingCall | undefined
  const isOver = new AbortController()
  /** Opened with the first call: lists ask nothing. */
  let stream: Incoming | undefined

  async function listen (): Promise<Incoming> {
    return new Incoming({ messages: await endpoint.listen(headers, isOver.signal), status: 200 })
  }

  async function respond (id: unknown, response: object): Promise<void> {
    await endpoint.post({ jsonrpc: '2.0', id, ...response }, headers)
  }

  /** Reads until the response, or until a question that this client has promised to answer. */
  async function read (
    method: string, call: Incoming, count: number, onNotification: (json: string) => void
  ): Promise<Reply> {
    for (;;) {
      const peeks = [call, stream].flatMap((incoming) => incoming?.peek() ?? [])
      const { from, message } = await Promise.race(peeks)
      if (message === undefined && from === call) throw toNoResponse(endpoint.url, call.status)
      from.take()
      if (message === undefined) {
        stream = undefined
        continue
      }
      if (isResponse(message)) return toReply(message, method)
      if (!('id' in message)) reportNotification(message, onNotification)
      else if (mayAnswer(message)) {
        const key = count === 0 ? 'question' : `question${count + 1}`
        waiting = { call, questionId: message.id, key }
        return { json: toQuestion(key, { method: message.method, params: message.params }, count + 1) }
      } else if (message.method === 'ping') await respond(message.id, { result: {} })
      else {
        const text = `this client does not serve ${String(message.method)}`
        await respond(message.id, { error: { code: -32601, message: text } })
      }
    }
  }

  function mayAnswer ({ method }: Received): boolean {
    const capability = String(method).split('/')[0] ?? ''
    return QUESTIONS.includes(String(method)) && capability in capabilities
  }

  return {
    async send ({ method, params, headers: mirrored, signal }, onNotification) {
      const { inputResponses, requestState, ...members } = readRound(params)
      if (waiting !== undefined && isObject(inputResponses)) {
        const { call, questionId, key } = waiting
        waiting = undefined
        await respond(questionId, { result: inputResponses[key] })
        return await read(method, call, Number(requestState), onNotification)
      }
      if (ASKING_METHODS.includes(method)) stream ??= await listen()
      const id = ++count
      const message = { jsonrpc: '2.0', id, method, params: { ...members, _meta: { progressToken: id } } }
      const call = new Incoming(await endpoint.post(message, { ...headers, ...mirrored }, signal))
      return await read(method, call, 0, onNotification)
    },
    async close () {
      isOver.abort()
      if ('mcp-session-id' in headers) await endpoint.delete(headers)
    }
  }
}

/** @param count how many questions the call has asked. */
function toQuestion (key: string, request: object, count: number): string {
  return JSON.stringify({
    resultType: 'input_required', inputRequests: { [key]: request }, requestState: String(count)
  })
}

function readRound (params: object): { readonly inputResponses?: unknown, readonly requestState?: unknown } {
  return params
}

// A service of the modern era: each request is one POST, which carries all that the service must know.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import { mayMirrorParams } from '../../../catalog/compiled/definitions/mirrored-params.ts'
import { toRequestHeaders } from '../../../platform/protocol/client-requests.ts'
import { toEnvelopeJson } from '../../../platform/protocol/envelope.ts'
import { isObject, type Params } from '../../../platform/protocol/json-rpc.ts'
import type { Reply } from '../../testing/exchange.ts'
import type { Endpoint } from './endpoint.ts'
import { readReply, type ClientFacts, type RemoteService } from './remote-service.ts'

export function createModernService (endpoint: Endpoint, client: ClientFacts): RemoteService {
  /** The input schemas by tool. */
  const schemas = new Map<unknown, unknown>()
  let count = 0

  /** Only the list says which arguments of a tool are mirrored in headers. */
  function remember (reply: Reply): void {
    if (!('json' in reply) || !mayMirrorParams(reply.json)) return
    const { tools }: { readonly tools: unknown } = JSON.parse(reply.json)
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (isObject(tool)) schemas.set(tool.name, tool.inputSchema)
    }
  }

  return {
    async send ({ method, params, headers, signal }, onNotification) {
      const id = ++count
      const members: Params = { ...params, _meta: toEnvelopeJson({ ...client, progressToken: id }) }
      const schema = method === 'tools/call' ? schemas.get(members.name) : undefined
      const message = { jsonrpc: '2.0', id, method, params: members }
      const answer = await endpoint.post(
        message, { ...toRequestHeaders(method, members, schema), ...headers }, signal
      )
      const reply = await readReply(endpoint, method, answer, onNotification)
      if (method === 'tools/list') remember(reply)
      return reply
    },
    async close () {}
  }
}

// A service of the modern era: each request is one POST, which carries all that the service must know.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import {
  findMirroredParams, mayMirrorParams, mirroredFields, type MirroredParam
} from '../../../catalog/compiled/definitions/mirrored-params.ts'
import { toEnvelopeJson } from '../../../platform/protocol/envelope.ts'
import { toHeaderValue } from '../../../platform/protocol/header-values.ts'
import { isObject, type Params } from '../../../platform/protocol/json-rpc.ts'
import { MIRRORED_NAMES } from '../../../platform/protocol/mirrored-names.ts'
import { CURRENT_REVISION } from '../../../platform/protocol/revisions.ts'
import type { Reply } from '../../testing/exchange.ts'
import type { Endpoint } from './endpoint.ts'
import { readReply, type ClientFacts, type RemoteService } from './remote-service.ts'

export function createModernService (endpoint: Endpoint, client: ClientFacts): RemoteService {
  const mirrored = new Map<unknown, readonly MirroredParam[]>()
  let count = 0

  /** Only the list says which arguments of a tool are mirrored in headers. */
  function remember (reply: Reply): void {
    if (!('json' in reply) || !mayMirrorParams(reply.json)) return
    const { tools }: { readonly tools: unknown } = JSON.parse(reply.json)
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isObject(tool) || !isObject(tool.inputSchema)) continue
      mirrored.set(tool.name, findMirroredParams(tool.inputSchema, () => {}))
    }
  }

  function headersOf (method: string, params: Params): { readonly [name: string]: string } {
    const name = params[MIRRORED_NAMES[method] ?? '']
    const fields = method === 'tools/call'
      ? mirroredFields(mirrored.get(params.name) ?? [], params.arguments)
      : []
    return {
      'mcp-protocol-version': CURRENT_REVISION,
      'mcp-method': method,
      ...typeof name === 'string' && { 'mcp-name': toHeaderValue(name) },
      ...Object.fromEntries(fields.filter(({ value }) => value !== undefined).map(
        ({ header, value }) => [header.toLowerCase(), toHeaderValue(String(value))]
      ))
    }
  }

  return {
    async send ({ method, params, headers, signal }, onNotification) {
      const id = ++count
      const _meta = toEnvelopeJson({ ...client, progressToken: id })
      const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
      const answer = await endpoint.post(message, { ...headersOf(method, { ...params }), ...headers }, signal)
      const reply = await readReply(endpoint, method, answer, onNotification)
      if (method === 'tools/list') remember(reply)
      return reply
    },
    async close () {}
  }
}

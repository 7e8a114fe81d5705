// The HTTP adapter of the modern era: each request is one POST, and requests are independent.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { IncomingHttpHeaders } from 'node:http'
import { META_PROTOCOL_VERSION, readEnvelope, type Envelope } from '../../../platform/protocol/envelope.ts'
import { handshakeRefused, headerMismatch, unsupportedRevision } from '../../../platform/protocol/errors.ts'
import { checkLiteralHeader } from '../../../platform/protocol/header-values.ts'
import { isObject, isRequest, readMessage, type Request } from '../../../platform/protocol/json-rpc.ts'
import { isSupportedRevision } from '../../../platform/protocol/revisions.ts'
import { HttpCaller, type RequestHeaders } from '../../../request/pipeline/caller.ts'
import type { Pipeline } from '../../../request/pipeline/pipeline.ts'
import { readAccept } from '../accept.ts'
import type { AnswerDependencies, Era } from '../era.ts'
import type { Replies } from '../replies.ts'
import { ModernOutlet } from './outlet.ts'

interface ModernEraDependencies extends AnswerDependencies {
  readonly pipeline: Pipeline
  readonly replies: Replies
}

/** Accepts every POST and no other method, so it must be the last era in the list. */
export function createModernEra (dependencies: ModernEraDependencies): Era {
  const { pipeline, replies } = dependencies
  return {
    methods: ['POST'],
    mayServe: ({ method }) => method === 'POST',
    serve (request, reply) {
      let method: string | undefined
      try {
        const message = readMessage(request.body)
        if (!isRequest(message)) return replies.accept(request, reply)
        method = pipeline.has(message.method) ? message.method : undefined
        const { headers } = request
        const takesStream = readAccept(headers.accept, pipeline.mustStream(message.method))
        const envelope = admit(message, headers)
        const outlet = new ModernOutlet(reply, message.id, dependencies, takesStream)
        pipeline.serve(message, new ModernCaller(request, envelope), outlet)
      } catch (error) {
        replies.refuse(error, request, reply, method)
      }
    },
    // The only streams without an end are subscriptions: app.ts ends them.
    endStreams () {},
    async close () {}
  }
}

/**
 * Throws the ProtocolError of the first check that does not pass. Clients may rely on the order of the
 * checks.
 */
function admit (request: Request, headers: IncomingHttpHeaders): Envelope {
  refuseHandshake(request)
  const envelope = readEnvelope(request.params)
  const { revision } = envelope
  checkLiteralHeader('MCP-Protocol-Version', revision, readSingleHeader(headers, 'mcp-protocol-version'))
  if (!isSupportedRevision(revision)) throw unsupportedRevision(revision)
  checkLiteralHeader('Mcp-Method', request.method, readSingleHeader(headers, 'mcp-method'))
  return envelope
}

/** The sender of a POST that passed the checks. */
class ModernCaller extends HttpCaller {
  mirror (header: string): string | undefined {
    return readSingleHeader(this.headers, header.toLowerCase())
  }
}

function readSingleHeader (headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name]
  if (Array.isArray(value)) throw headerMismatch(`${name} is sent more than once`)
  return typeof value === 'string' ? value : undefined
}

/** A legacy client begins with `initialize`: the error tells it which revisions the service supports. */
function refuseHandshake ({ method, params }: Request): void {
  if (method !== 'initialize' || (isObject(params?._meta) && META_PROTOCOL_VERSION in params._meta)) return
  throw handshakeRefused(typeof params?.protocolVersion === 'string' ? params.protocolVersion : 'none')
}

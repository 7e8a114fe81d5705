// The checks of a POST before its method is looked up: its media types, its envelope, its headers.
// Clients may rely on the order of the checks: the first check that does not pass decides the error.

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../access/principal.ts'
import { META_PROTOCOL_VERSION, readEnvelope, type Envelope } from '../../protocol/envelope.ts'
import { handshakeRefused, headerMismatch, unsupportedRevision } from '../../protocol/errors.ts'
import { checkLiteralHeader } from '../../protocol/header-values.ts'
import { isObject, type Request } from '../../protocol/json-rpc.ts'
import { isSupportedRevision } from '../../protocol/revisions.ts'
import type { Caller, RequestLog, RequestHeaders } from '../../request/pipeline/caller.ts'
import { checkAccept } from '../accept.ts'

/** Throws the ProtocolError of the first check that does not pass. */
export function admit (request: Request, headers: IncomingHttpHeaders): Envelope {
  checkAccept(headers.accept)
  refuseHandshake(request)
  const envelope = readEnvelope(request.params)
  const { revision } = envelope
  checkLiteralHeader('MCP-Protocol-Version', revision, readSingleHeader(headers, 'mcp-protocol-version'))
  if (!isSupportedRevision(revision)) throw unsupportedRevision(revision)
  checkLiteralHeader('Mcp-Method', request.method, readSingleHeader(headers, 'mcp-method'))
  return envelope
}

/** The sender of a POST that passed the checks. */
export class ModernCaller implements Caller {
  readonly principal: Principal
  readonly envelope: Envelope
  readonly requestId: string
  readonly log: RequestLog
  readonly #request: FastifyRequest

  constructor (request: FastifyRequest, envelope: Envelope) {
    this.principal = request.principal
    this.envelope = envelope
    this.requestId = request.id
    this.log = request.log
    this.#request = request
  }

  get address (): string | undefined { return this.#request.address }
  get headers (): RequestHeaders { return this.#request.headers }

  mirror (header: string): string | undefined {
    return readSingleHeader(this.#request.headers, header.toLowerCase())
  }
}

function readSingleHeader (headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  if (Array.isArray(value)) throw headerMismatch(`${name} is sent more than once`)
  return value
}

/** A legacy client begins with `initialize`: the error tells it which revisions the service supports. */
function refuseHandshake ({ method, params }: Request): void {
  if (method !== 'initialize' || (isObject(params?._meta) && META_PROTOCOL_VERSION in params._meta)) return
  throw handshakeRefused(typeof params?.protocolVersion === 'string' ? params.protocolVersion : 'none')
}

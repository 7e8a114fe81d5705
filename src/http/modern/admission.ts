// What must hold of a POST before its method is looked up: its media types, its envelope, its headers.
// The order is part of the contract: a client learns first what is most wrong.

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../access/principal.ts'
import type { Caller, RequestLog } from '../../dispatch/caller.ts'
import { readEnvelope, type Envelope } from '../../protocol/envelope.ts'
import { handshakeRefused, headerMismatch, unsupportedRevision } from '../../protocol/errors.ts'
import { checkLiteralHeader } from '../../protocol/header-values.ts'
import { isObject, type Request } from '../../protocol/json-rpc.ts'
import { META_PROTOCOL_VERSION } from '../../protocol/meta-keys.ts'
import { isSupportedRevision } from '../../protocol/revisions.ts'
import { checkAccept } from '../accept.ts'

/** Throws the ProtocolError of the first thing that does not hold. */
export function admit (request: Request, headers: IncomingHttpHeaders): Envelope {
  checkAccept(headers.accept)
  refuseHandshake(request)
  const envelope = readEnvelope(request.params)
  checkLiteralHeader('MCP-Protocol-Version', envelope.revision, only(headers, 'mcp-protocol-version'))
  if (!isSupportedRevision(envelope.revision)) throw unsupportedRevision(envelope.revision)
  checkLiteralHeader('Mcp-Method', request.method, only(headers, 'mcp-method'))
  return envelope
}

/** Who sent a POST that was admitted. */
export class ModernCaller implements Caller {
  readonly principal: Principal
  readonly envelope: Envelope
  readonly requestId: string
  readonly log: RequestLog
  readonly #headers: IncomingHttpHeaders

  constructor ({ principal, id, log, headers }: FastifyRequest, envelope: Envelope) {
    this.principal = principal
    this.envelope = envelope
    this.requestId = id
    this.log = log
    this.#headers = headers
  }

  mirror (header: string): string | undefined {
    return only(this.#headers, header.toLowerCase())
  }
}

function only (headers: IncomingHttpHeaders, name: string): string | undefined {
  const received = headers[name]
  if (Array.isArray(received)) throw headerMismatch(`${name} is sent more than once`)
  return received
}

/** A client of an earlier revision opens with a handshake: it is told which revisions there are. */
function refuseHandshake ({ method, params }: Request): void {
  if (method !== 'initialize' || (isObject(params?._meta) && META_PROTOCOL_VERSION in params._meta)) return
  throw handshakeRefused(typeof params?.protocolVersion === 'string' ? params.protocolVersion : 'none')
}

// The MCP endpoint: from an HTTP request to a method, and from its outcome to an answer.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { RequestAborted } from '../dispatch/endings.ts'
import { toProtocolError } from '../dispatch/failures.ts'
import type { Outcome } from '../dispatch/method.ts'
import { RequestContext } from '../dispatch/request-context.ts'
import { findUndeclared } from '../input/client-needs.ts'
import { missingClientCapability } from '../protocol/errors.ts'
import { isRequest, readMessage, readRequestId, type Request } from '../protocol/json-rpc.ts'
import { admit, checkField } from './admission.ts'
import { Exchange } from './exchange.ts'
import type { InFlight } from './in-flight.ts'
import type { OtherEra } from './other-era.ts'

export interface McpRouteOptions {
  readonly path: string
  readonly catalog: Catalog
  readonly dispatcher: Dispatcher
  readonly inFlight: InFlight
  readonly otherEras: readonly OtherEra[]
}

export function registerMcpRoute (app: FastifyInstance, { path, catalog, dispatcher, inFlight, otherEras }: McpRouteOptions): void {
  const eraOf = (request: FastifyRequest) => otherEras.find((era) => era.takes(request))

  app.post(path, (request, reply) => {
    const era = eraOf(request)
    if (era !== undefined) return era.serve(request, reply)
    const exchange = new Exchange(reply, readRequestId(request.body))
    try {
      const message = readMessage(request.body)
      if (isRequest(message)) serve(message, request, reply, exchange)
      else reply.code(202).send()
    } catch (error) {
      fail(error, request, exchange)
    }
  })

  // Streams and sessions of other eras: by itself this endpoint takes nothing but POST.
  app.route({
    method: ['GET', 'DELETE'],
    url: path,
    onRequest: (request, reply, done) => {
      if (eraOf(request) === undefined) reply.code(405).header('allow', 'POST').send()
      else done()
    },
    handler: (request, reply) => eraOf(request)?.serve(request, reply)
  })
  app.route({
    method: ['HEAD', 'PUT', 'PATCH'],
    url: path,
    // Before a body that nobody will read could be found wrong.
    onRequest: (_, reply) => { reply.code(405).header('allow', 'POST').send() },
    handler: (_, reply) => reply
  })

  function serve (message: Request, request: FastifyRequest, reply: FastifyReply, exchange: Exchange): void {
    request.mcp.method = message.method
    const envelope = admit(message, request.headers)
    const method = dispatcher.find(message.method)
    const context = new RequestContext({
      id: message.id,
      snapshot: catalog.current,
      principal: request.principal,
      envelope,
      requestId: request.id,
      log: request.log
    }, exchange)
    request.mcp.context = context
    const call = method.open(message.params, context)
    const missing = call.requiredCapabilities === undefined ? undefined : findUndeclared(envelope.clientCapabilities, call.requiredCapabilities)
    if (missing !== undefined) throw missingClientCapability(missing)
    for (const field of call.mirroredParams) checkField(field, request.headers)

    // From here on the request has a life: it ends with the answer, or with the client.
    inFlight.add(context, reply.raw)
    const outcome = call.handle()
    if (outcome instanceof Promise) outcome.then((settled) => finish(settled, context, exchange), (error: unknown) => fail(error, request, exchange))
    else finish(outcome, context, exchange)
  }

  function finish (outcome: Outcome, context: RequestContext, exchange: Exchange): void {
    context.end()
    exchange.finish(context.id, outcome)
  }
}

function fail (error: unknown, request: FastifyRequest, exchange: Exchange): void {
  const { mcp } = request
  mcp.context?.end()
  const failure = toProtocolError(error)
  mcp.errorCode = failure.code
  if (failure.code === -32603 && !(error instanceof RequestAborted)) {
    request.log.error({ err: error, method: mcp.method, name: mcp.context?.subject }, 'request failed')
  } else if (failure.cause !== undefined) {
    request.log.warn({ err: failure.cause, method: mcp.method, name: mcp.context?.subject }, 'request refused')
  }
  exchange.fail(failure)
}

// The MCP endpoint: passes each HTTP request to the first era that accepts it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Era } from './era.ts'
import type { Replies } from './replies.ts'

interface McpRouteOptions {
  readonly path: string
  /** The first era that accepts a request serves it. */
  readonly eras: readonly Era[]
  readonly replies: Replies
}

export function registerMcpRoute (app: FastifyInstance, { path, eras, replies }: McpRouteOptions): void {
  const eraOf = (request: FastifyRequest) => eras.find((era) => era.mayServe(request))

  function refuse (request: FastifyRequest, reply: FastifyReply): void {
    reply.code(405).header('allow', 'POST').send()
    replies.end(request, reply)
  }

  app.post(path, (request, reply) => eraOf(request)?.serve(request, reply))
  // Only an era with sessions accepts these methods.
  app.route({
    method: ['GET', 'DELETE'],
    url: path,
    onRequest: (request, reply, done) => {
      if (eraOf(request) === undefined) refuse(request, reply)
      else done()
    },
    handler: (request, reply) => eraOf(request)?.serve(request, reply)
  })
  app.route({
    method: ['HEAD', 'PUT', 'PATCH'],
    url: path,
    // Refuses before the body is parsed, so that the answer is 405 also for an invalid body.
    onRequest: refuse,
    handler: (_, reply) => reply
  })
}

// The MCP endpoint: hands each HTTP request to the era that takes it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Era } from './era.ts'
import type { Replies } from './replies.ts'

export interface McpRouteOptions {
  readonly path: string
  /** In the order in which they are asked. */
  readonly eras: readonly Era[]
  readonly replies: Replies
}

export function registerMcpRoute (app: FastifyInstance, { path, eras, replies }: McpRouteOptions): void {
  const eraOf = (request: FastifyRequest) => eras.find((era) => era.takes(request))

  function refuse (request: FastifyRequest, reply: FastifyReply): void {
    reply.code(405).header('allow', 'POST').send()
    replies.conclude(request, reply)
  }

  app.post(path, (request, reply) => eraOf(request)?.serve(request, reply))
  // Streams and sessions: only an era that has them takes these.
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
    // Before a body that nobody will read could be found wrong.
    onRequest: refuse,
    handler: (_, reply) => reply
  })
}

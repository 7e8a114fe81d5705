// The MCP endpoint: passes each HTTP request to the first era that accepts it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { prefersHtml } from './accept.ts'
import type { Era } from './era.ts'
import { sendWelcome, type WelcomeOptions } from './pages/welcome-page.ts'

interface McpRouteOptions extends WelcomeOptions {
  /** The first era that accepts a request serves it. */
  readonly eras: readonly Era[]
}

/** The endpoint is also served with a slash at its end: users often write one. */
export function registerMcpRoute (app: FastifyInstance, options: McpRouteOptions): void {
  const { path } = options
  for (const url of path.endsWith('/') ? [path] : [path, `${path}/`]) registerRoutes(app, url, options)
}

function registerRoutes (app: FastifyInstance, url: string, options: McpRouteOptions): void {
  const { eras, replies } = options
  const methods = [...new Set([...eras.flatMap((era) => era.methods), 'OPTIONS'])].join(', ')
  const eraOf = (request: FastifyRequest) => eras.find((era) => era.mayServe(request))

  function refuse (request: FastifyRequest, reply: FastifyReply): void {
    reply.code(405).header('allow', 'POST').send()
    replies.end(request, reply)
  }

  app.post(url, (request, reply) => eraOf(request)?.serve(request, reply))
  // Only an era with sessions accepts these methods. A browser gets a page: it has no session.
  app.route({
    method: ['GET', 'DELETE'],
    url,
    onRequest: (request, reply, done) => {
      // A stream is open for long: the body of a GET, which means nothing, must not wait beside it.
      if (request.method === 'GET') request.raw.resume()
      if (prefersHtml(request)) sendWelcome(options, request, reply)
      else if (eraOf(request) === undefined) refuse(request, reply)
      else done()
    },
    handler: (request, reply) => eraOf(request)?.serve(request, reply)
  })
  app.route({
    method: ['HEAD', 'PUT', 'PATCH'],
    url,
    // Refuses before the body is parsed, so that the answer is 405 also for an invalid body.
    onRequest: refuse,
    handler: (_, reply) => reply
  })
  // The hook of the CORS headers answers preflights, which have an Origin header.
  app.options(url, (request, reply) => {
    reply.code(204).header('allow', methods).send()
    replies.end(request, reply)
  })
}

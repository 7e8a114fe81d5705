// One line for each request: what it was and how it ended, never what it said.

import type { FastifyInstance } from 'fastify'
import type { RequestContext } from '../dispatch/request-context.ts'

/** What is known of a request while it is served. */
export class McpFacts {
  method: string | undefined
  errorCode: number | undefined
  context: RequestContext | undefined
}

declare module 'fastify' {
  interface FastifyRequest { mcp: McpFacts }
}

export function registerRequestLog (app: FastifyInstance): void {
  app.addHook('onRequest', (request, _, done) => {
    request.mcp = new McpFacts()
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method, errorCode, context } = request.mcp
    request.log.info({
      method: method ?? request.method,
      name: context?.subject,
      status: reply.statusCode,
      code: errorCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
      cancelled: context?.isAborted === true ? true : undefined
    }, 'request')
    done()
  })
}

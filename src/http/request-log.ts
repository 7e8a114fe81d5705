// One line for each request: what it was and how it ended, never what it said.

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RequestContext } from '../dispatch/request-context.ts'

/** No primitive's name is longer; what a client makes up may be. */
const MAX_NAME_LENGTH = 256

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
  app.addHook('onRequest', (request, reply, done) => {
    request.mcp = new McpFacts()
    // Not the hook for responses: it does not run for a client that leaves before it has one.
    if (isLevelEnabled(request.log)) reply.raw.once('close', () => logRequest(request, reply))
    done()
  })
}

function logRequest (request: FastifyRequest, reply: FastifyReply): void {
  const { method, errorCode, context } = request.mcp
  request.log.info({
    method: method ?? request.method,
    name: context?.subject?.slice(0, MAX_NAME_LENGTH),
    status: reply.raw.headersSent ? reply.statusCode : undefined,
    code: errorCode,
    durationMs: Math.round(reply.elapsedTime * 100) / 100,
    cancelled: reply.raw.writableEnded ? undefined : true
  }, 'request')
}

function isLevelEnabled (log: FastifyBaseLogger): boolean {
  return !('isLevelEnabled' in log) || typeof log.isLevelEnabled !== 'function' || log.isLevelEnabled('info') === true
}

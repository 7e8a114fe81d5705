// One line for each request: what it was and how it ended, never what it said.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestContext } from '../dispatch/request-context.ts'

/** No primitive's name is longer; what a client makes up may be. */
const MAX_NAME_LENGTH = 256

/** The levels of a log at which these lines are written. */
const WRITTEN = new Set(['trace', 'debug', 'info'])

/** What is known of a request while it is served. */
export class McpFacts {
  method: string | undefined
  errorCode: number | undefined
  context: RequestContext | undefined
}

declare module 'fastify' {
  interface FastifyRequest { mcp: McpFacts }
}

/** To be called first of all for a request, so that whatever becomes of it is in the log. */
export function openRequestLog (request: FastifyRequest, reply: FastifyReply): void {
  request.mcp = new McpFacts()
  // Not the hook for responses: it does not run for a client that leaves before it has one.
  if (WRITTEN.has(request.log.level)) reply.raw.once('close', () => logRequest(request, reply))
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

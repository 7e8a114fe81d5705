// The HTTP server's own settings, each with its reason.

import { randomBytes } from 'node:crypto'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'

/**
 * How long a client may take to send one request, in milliseconds: a slow one must not hold a socket for
 * ever.
 */
const RECEIVE_TIMEOUT_MS = 60_000
/**
 * Longer than load balancers keep an idle connection (60 s, mostly): they must never pick one that is just
 * closing.
 */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

export function createFastify (log: FastifyBaseLogger): FastifyInstance {
  // Unique across replicas and restarts, and cheap to make.
  const prefix = randomBytes(4).toString('hex')
  let count = 0
  return Fastify({
    loggerInstance: log,
    // The service writes a line of its own for each request.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => `${prefix}-${(++count).toString(36)}`,
    requestTimeout: RECEIVE_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    exposeHeadRoutes: false,
    // What still arrives on an open connection while the service goes down is served, and its connection is
    // then closed.
    return503OnClosing: false
  })
}

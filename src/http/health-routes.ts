import type { FastifyInstance } from 'fastify'
import type { Readiness } from './readiness.ts'

/** Routes for the platform that runs the container. They reveal nothing of the service and need no token. */
export function registerHealthRoutes (app: FastifyInstance, readiness: Pick<Readiness, 'isReady'>): void {
  // Some load balancers check with HEAD.
  const options = { logLevel: 'silent', exposeHeadRoute: true } as const
  app.get('/livez', options, () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_, reply) => {
    return await readiness.isReady() ? { status: 'ok' } : reply.code(503).send({ status: 'unready' })
  })
}

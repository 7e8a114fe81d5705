import type { FastifyInstance } from 'fastify'

export interface Health {
  /** Why no new request should come here; `undefined` while they should. */
  readonly unreadyReason: string | undefined
}

/** For whatever runs the container. They tell nothing of the catalog, and ask for neither host nor token. */
export function registerHealthRoutes (app: FastifyInstance, health: Health): void {
  app.get('/livez', { logLevel: 'silent' }, () => ({ status: 'ok' }))
  app.get('/readyz', { logLevel: 'silent' }, (_, reply) => {
    const reason = health.unreadyReason
    return reason === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'unready', reason })
  })
}

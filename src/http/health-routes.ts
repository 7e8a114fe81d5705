import type { FastifyInstance } from 'fastify'

export interface Health {
  /** Why no new request should come here; `undefined` while they should. */
  readonly unreadyReason: string | undefined
}

/** Something without which requests fail. */
export interface Dependency {
  readonly name: string
  /** Rejects unless it can be used now. */
  check (): Promise<void>
}

/** For whatever runs the container. They tell nothing of the catalog, and ask for neither host nor token. */
export function registerHealthRoutes (
  app: FastifyInstance, health: Health, dependencies: readonly Dependency[]
): void {
  app.get('/livez', { logLevel: 'silent' }, () => ({ status: 'ok' }))
  app.get('/readyz', { logLevel: 'silent' }, async (_, reply) => {
    const reason = health.unreadyReason ?? await findUnavailable(dependencies)
    return reason === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'unready', reason })
  })
}

async function findUnavailable (dependencies: readonly Dependency[]): Promise<string | undefined> {
  const states = await Promise.all(
    dependencies.map(
      async ({ name, check }) => await check().then(() => undefined, () => `${name} is not available`)
    )
  )
  return states.find((state) => state !== undefined)
}

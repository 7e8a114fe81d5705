import type { FastifyInstance } from 'fastify'

export interface Health {
  /** Why load balancers should send no new requests to this replica; `undefined` while they should. */
  readonly unreadyReason: string | undefined
}

/** Checks something that requests need, such as the state store. */
interface ReadinessCheck {
  readonly name: string
  /** Rejects if the thing is not available now. */
  check (): Promise<void>
}

/** Routes for the platform that runs the container. They reveal nothing of the catalog and need no token. */
export function registerHealthRoutes (
  app: FastifyInstance, health: Health, checks: readonly ReadinessCheck[]
): void {
  // Some load balancers check with HEAD.
  const options = { logLevel: 'silent', exposeHeadRoute: true } as const
  app.get('/livez', options, () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_, reply) => {
    const reason = health.unreadyReason ?? await findUnavailable(checks)
    return reason === undefined ? { status: 'ok' } : reply.code(503).send({ status: 'unready', reason })
  })
}

async function findUnavailable (checks: readonly ReadinessCheck[]): Promise<string | undefined> {
  const reasons = await Promise.all(
    checks.map(async ({ name, check }) => {
      return await check().then(() => undefined, () => `${name} is not available`)
    })
  )
  return reasons.find((reason) => reason !== undefined)
}

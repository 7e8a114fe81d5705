// The app of the admin address: health in detail and metrics, for operators. It never has the endpoint.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createFastify } from './fastify.ts'
import { createOriginPolicy } from './origin-policy.ts'
import type { Readiness } from './readiness.ts'

interface AdminAppDependencies {
  readonly log: FastifyBaseLogger
  readonly readiness: Pick<Readiness, 'parts'>
  readonly metrics: { readonly contentType: string, text (): Promise<string> }
}

/** An app that does not listen. Anyone who reaches its address may read it. */
export function createAdminApp ({ log, readiness, metrics }: AdminAppDependencies): FastifyInstance {
  const app = createFastify(log)
  const options = { logLevel: 'silent', exposeHeadRoute: true } as const
  guardAgainstRebinding(app)
  // A reader that is slow must not delay the end of the process.
  app.addHook('preClose', (done) => {
    app.server.closeAllConnections()
    done()
  })
  app.get('/livez', options, () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_, reply) => {
    const parts = await readiness.parts()
    const ready = parts.every((part) => part.ready)
    return reply.code(ready ? 200 : 503).send({ ready, parts })
  })
  app.get('/metrics', options, async (_, reply) => {
    return reply.header('content-type', metrics.contentType).send(await metrics.text())
  })
  return app
}

/** A web page could reach an address of this machine by a name of its own. Its requests have that name. */
function guardAgainstRebinding (app: FastifyInstance): void {
  const policy = createOriginPolicy(app.server, { allowedHosts: [], allowedOrigins: [] })
  app.addHook('onRequest', async ({ headers: { host, origin } }, reply) => {
    if (policy.isAllowedHost(host) && policy.isAllowedOrigin(origin)) return
    const message = 'Host or Origin not allowed'
    return reply.code(403).send({ statusCode: 403, error: 'Forbidden', message })
  })
}

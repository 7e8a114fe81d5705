// The composition root: every part is built here, and joined here.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { openToAll, type Authenticator } from './access/authenticator.ts'
import type { Catalog } from './catalog/catalog.ts'
import { completeConfig, isLoopback, type Config } from './config.ts'
import { createDispatcher } from './dispatch/dispatcher.ts'
import { createMemoryEventBus } from './events/memory-event-bus.ts'
import { createSubscriptions } from './events/subscriptions.ts'
import { registerBody } from './http/body.ts'
import { createFastify } from './http/fastify.ts'
import { registerGuards } from './http/guards.ts'
import { registerHealthRoutes } from './http/health-routes.ts'
import { createInFlight } from './http/in-flight.ts'
import { registerMcpRoute } from './http/mcp-route.ts'
import { createOriginPolicy } from './http/origin-policy.ts'
import { registerShutdown } from './http/shutdown.ts'
import { createMethods } from './methods/method-list.ts'
import { subscriptionMeta } from './protocol/notifications.ts'
import { openCatalogFolder } from './sources/catalog-folder.ts'
import { openLiveCatalog } from './sources/live-catalog.ts'

/** The settings of the README's table by their names in camel case; each has its default. */
export interface AppOptions extends Partial<Config> {
  /** Where the log goes. A pino logger on standard output by default. */
  logger?: FastifyBaseLogger
  /** Who is asking. Everyone is anonymous by default, and no one is granted a scope. */
  authenticator?: Authenticator
}

/**
 * Builds the service as a Fastify app that is not listening: `app.listen()` serves, `app.inject()` answers in process,
 * `app.close()` drains. Rejects with a CatalogError that lists every complaint where the catalog does not load.
 *
 * @example
 * const app = await createApp({ catalog: './catalog', watch: 'off' })
 * await app.listen({ port: 3000 })
 */
export async function createApp (options: AppOptions = {}): Promise<FastifyInstance> {
  const { app } = await createService(options)
  return app
}

export interface Service { readonly app: FastifyInstance, readonly catalog: Catalog }

/** The app together with what it serves, for whoever starts it and wants to say so. */
export async function createService ({ logger, authenticator = openToAll, ...options }: AppOptions): Promise<Service> {
  const config = completeConfig(options)
  const log = logger ?? pino({ level: config.logLevel })
  const bus = createMemoryEventBus()
  const source = openCatalogFolder(config.catalog, {
    maxResourceBytes: config.maxResourceBytes,
    watchMode: config.watch,
    // Loaded late, because it is what exports this function: a catalog's 'trivet' is this very module.
    trivet: await import('./index.ts')
  })
  const { catalog, close } = await openLiveCatalog(source, bus, log, { pageSize: config.pageSize })
  const subscriptions = createSubscriptions(bus, {
    maxStreams: config.maxStreams,
    keepAliveMs: config.keepAliveMs,
    toResult: (id) => catalog.current.writer.write('', subscriptionMeta(id)),
    onSlowReader: (id) => log.warn({ subscriptionId: id }, 'stream closed: its reader is too slow')
  })
  const dispatcher = createDispatcher(createMethods({
    subscriptions,
    isWatching: config.watch !== 'off',
    requestTimeoutMs: config.requestTimeoutMs,
    notify: {
      resourceUpdated (uri) {
        bus.publish({ type: 'resource-updated', uri }).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
      }
    }
  }))

  const app = createFastify(log)
  const inFlight = createInFlight()
  const health = registerShutdown(app, {
    inFlight,
    subscriptions,
    timeoutMs: config.shutdownTimeoutMs,
    async closeRest () {
      await close()
      await bus.close()
    }
  })
  app.register(async (open) => registerHealthRoutes(open, health))
  app.register(async (guarded) => {
    registerGuards(guarded, createOriginPolicy({ ...config, isLoopback: isLoopback(config.host) }), authenticator)
    registerBody(guarded, config.maxBodyBytes)
    registerMcpRoute(guarded, { path: config.path, catalog, dispatcher, inFlight })
  })
  return { app, catalog }
}

// The composition root: every part is built here, and joined here.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { openLegacyEra } from './app-legacy.ts'
import { openToAll, type Authenticator } from './access/authenticator.ts'
import { openBackend } from './backends/url-schemes.ts'
import type { Catalog } from './catalog/catalog.ts'
import { completeConfig, ConfigError, isLoopback, type Config } from './config.ts'
import { createDispatcher } from './dispatch/dispatcher.ts'
import { createSubscriptions } from './events/subscriptions.ts'
import { registerBody } from './http/body.ts'
import { createFastify } from './http/fastify.ts'
import { registerGuards } from './http/guards.ts'
import { registerHealthRoutes } from './http/health-routes.ts'
import { createInFlight } from './http/in-flight.ts'
import { registerMcpRoute } from './http/mcp-route.ts'
import { createOriginPolicy } from './http/origin-policy.ts'
import type { OtherEra } from './http/other-era.ts'
import { registerShutdown } from './http/shutdown.ts'
import { createInputRounds } from './input/sealed-input-round.ts'
import { createMethods } from './methods/method-list.ts'
import { createSealer } from './sealing/sealer.ts'
import { openCatalogFolder } from './sources/catalog-folder.ts'
import { openLiveCatalog } from './sources/live-catalog.ts'
import { createHandles } from './state/handles.ts'

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

export interface Service {
  readonly app: FastifyInstance
  readonly catalog: Catalog
  /** Announces the end to whoever sends requests, and waits until they go elsewhere. To be followed by `app.close()`. */
  drain (): Promise<void>
}

/** The app together with what it serves, for whoever starts it and wants to say so. */
export async function createService ({ logger, authenticator = openToAll, ...options }: AppOptions): Promise<Service> {
  const config = completeConfig(options)
  const log = logger ?? pino({ level: config.logLevel })
  const backend = await openBackend(config.stateUrl, { log, prefix: config.statePrefix }).catch((error: unknown) => {
    throw new ConfigError([error instanceof Error ? error.message : String(error)], { cause: error })
  })
  const { store, bus, relay, eventLog } = backend
  const source = openCatalogFolder(config.catalog, {
    maxResourceBytes: config.maxResourceBytes,
    watchMode: config.watch,
    // Loaded late, because it is what exports this function: a catalog's 'trivet' is this very module.
    trivet: await import('./index.ts')
  })
  const { catalog, close } = await openLiveCatalog(source, bus, log, { pageSize: config.pageSize }).catch(async (error: unknown) => {
    await backend.close()
    throw error
  })
  const closeAll = async () => {
    await close()
    await backend.close()
  }
  const giveUp = async (error: unknown): Promise<never> => {
    await closeAll()
    throw error
  }
  const subscriptions = createSubscriptions(bus, {
    maxStreams: config.maxStreams,
    keepAliveMs: config.keepAliveMs,
    onSlowReader: (id) => log.warn({ subscriptionId: id }, 'stream closed: its reader is too slow')
  })
  const sealer = createSealer(config.secrets.length === 0 ? undefined : config.secrets, {
    onEphemeral: () => log.warn('TRIVET_SECRETS is not set: sessions, and questions to clients, are lost when this process ends')
  })
  const methods = createMethods({
    subscriptions,
    isWatching: config.watch !== 'off',
    requestTimeoutMs: config.requestTimeoutMs,
    handles: createHandles(store, { maxPerOwner: config.maxHandles }),
    inputRounds: createInputRounds({ sealer, ttlMs: config.requestStateTtlMs }),
    announce (uri, owner) {
      const event = { type: 'resource-updated', uri, ...(owner !== undefined && { owner }) } as const
      bus.publish(event).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
    }
  })

  const app = createFastify(log)
  const inFlight = createInFlight()
  const otherEras: OtherEra[] = []
  const parts = { config, log, catalog, methods, store, bus, relay, eventLog, subscriptions, sealer, inFlight }
  if (config.legacy === 'on') otherEras.push(await openLegacyEra(parts).catch(giveUp))
  const shutdown = registerShutdown(app, {
    inFlight,
    endStreams () {
      subscriptions.close()
      for (const era of otherEras) era.endStreams()
    },
    timeoutMs: config.shutdownTimeoutMs,
    drainMs: config.drainMs,
    async closeRest () {
      await Promise.all(otherEras.map(async (era) => await era.close()))
      await closeAll()
    }
  })
  app.register(async (open) => registerHealthRoutes(open, shutdown, [{ name: 'the state store', check: async () => await store.check() }]))
  app.register(async (guarded) => {
    registerGuards(guarded, { policy: createOriginPolicy({ ...config, isLoopback: isLoopback(config.host) }), authenticator, shutdown })
    registerBody(guarded, config.maxBodyBytes)
    registerMcpRoute(guarded, { path: config.path, catalog, dispatcher: createDispatcher(methods), inFlight, otherEras })
  })
  return { app, catalog, drain: shutdown.drain }
}

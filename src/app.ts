// The composition root: it creates and connects all components.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { openAuthenticator } from './app-access.ts'
import { openMetering, type Build } from './app-admin.ts'
import { openLegacyEra } from './app-legacy.ts'
import { openRequestTracer } from './app-tracing.ts'
import type { Authenticator } from './access/authenticator.ts'
import { readCallLimits } from './access/call-limits.ts'
import { isLoopback } from './access/loopback.ts'
import { createRangeCheck } from './access/proxy-range.ts'
import type { OpenedBackend } from './backends/backend.ts'
import { createOutageLog } from './backends/outage-log.ts'
import { openBackend } from './backends/url-schemes.ts'
import { createScopeGroups } from './catalog/scope-groups.ts'
import type { Catalog } from './catalog/catalog.ts'
import { createLoadGuard } from './catalog/load-guard.ts'
import { completeConfig, ConfigError, type AppConfig } from './config.ts'
import { allowAll } from './dispatch/authorizer.ts'
import { createCallLimiter } from './dispatch/call-limiter.ts'
import { createLifetimes } from './dispatch/lifetimes.ts'
import { createLogObserver } from './dispatch/log-observer.ts'
import { joinObservers } from './dispatch/observer.ts'
import { createPipeline } from './dispatch/pipeline.ts'
import { createOpenStreams } from './events/open-streams.ts'
import { createSubscriptions } from './events/subscriptions.ts'
import { registerBody } from './http/body.ts'
import { rememberPeers } from './http/client-address.ts'
import { limitConnections } from './http/connections.ts'
import type { Era } from './http/era.ts'
import { createFastify } from './http/fastify.ts'
import { createChallenges } from './http/challenges.ts'
import { registerGuards } from './http/guards.ts'
import { registerHealthRoutes } from './http/health-routes.ts'
import { createCheckedPart, createReadiness } from './http/readiness.ts'
import { createKeepAlive } from './http/keep-alive.ts'
import { registerMcpRoute } from './http/mcp-route.ts'
import { createModernEra } from './http/modern/era.ts'
import { registerNotFound } from './http/not-found.ts'
import { createOriginPolicy } from './http/origin-policy.ts'
import { createReplies } from './http/replies.ts'
import { metadataUrlOf, registerResourceMetadata } from './http/resource-metadata.ts'
import { registerShutdown } from './http/shutdown.ts'
import { createWaitingBytes } from './http/waiting-bytes.ts'
import { createInputRounds } from './input/sealed-input-round.ts'
import { openLog } from './log.ts'
import { createMethods } from './methods/method-list.ts'
import { missingClientCapability } from './protocol/errors.ts'
import { createSealer } from './sealing/sealer.ts'
import { openCatalogFolder } from './sources/catalog-folder.ts'
import { openLiveCatalog } from './sources/live-catalog.ts'
import { createHandles } from './state/handles.ts'

/**
 * The options of `createApp`: the settings in the README's table, with names in camel case. Each has a
 * default. `host` and `port` are not options: the embedding program calls `listen`. Nor are `adminHost` and
 * `adminPort`: metrics are served only by the service that runs as a process of its own.
 */
export interface AppOptions extends Partial<AppConfig> {
  /** Receives the log. By default a pino logger that writes to standard output. */
  logger?: FastifyBaseLogger
  /** Finds the principal of each request, instead of the modes of `auth`. */
  authenticator?: Authenticator
}

const BOTH_GIVEN = 'auth and authenticator are both given: an authenticator takes the place of all modes'

/** Connections that are open beside those of streams: of requests, and idle ones of load balancers. */
const MAX_OTHER_CONNECTIONS = 10_000

/**
 * Builds the service as a Fastify app that does not listen. `app.listen()` serves, `app.inject()` answers in
 * the process, and `app.close()` drains and ends the service. Rejects with a CatalogError that lists every
 * problem of the catalog, and with a ConfigError for an unknown option or a value that is not valid.
 *
 * The address that the app listens on decides the host names that it answers to: on a loopback address those
 * of this machine, on any other address `allowedHosts`, or all names if that list is empty. Requests are
 * traced if the program has registered an SDK of OpenTelemetry before.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
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
  /** The app of the admin address. It must listen and close by itself. */
  readonly admin: FastifyInstance | undefined
  readonly catalog: Catalog
  /**
   * Reports "not ready", and waits until load balancers send requests elsewhere. Call `app.close()`
   * afterwards.
   */
  drain (): Promise<void>
}

/**
 * Does the work of `createApp`. Also returns the catalog, which the start message describes.
 * @param build present if the service shall measure itself and have an admin app.
 */
export async function createService (
  { logger, authenticator: given, ...options }: AppOptions, guard = createLoadGuard(), build?: Build
): Promise<Service> {
  const config = completeConfig(options)
  if (given !== undefined && config.auth.length > 0) throw new ConfigError([BOTH_GIVEN])
  const log = logger ?? openLog(config.logLevel)
  const backend = await openConfiguredBackend(config, log)
  const { store, bus, relay, eventLog } = backend
  const secrets = await readSecrets(config, backend, log)
  const source = openCatalogFolder(config.catalog, {
    maxResourceBytes: config.maxResourceBytes,
    watchMode: config.watch,
    // Imported here and not at the top, because index.ts imports this file.
    trivet: await import('./index.ts')
  })
  const opening = openLiveCatalog(source, bus, log, { pageSize: config.pageSize }, guard)
  const live = await opening.catch(async (error: unknown) => {
    await backend.close()
    throw error
  })
  const { catalog } = live
  const closeAll = async () => {
    await live.close()
    await backend.close()
  }
  const closeAndThrow = async (error: unknown): Promise<never> => {
    await closeAll()
    throw error
  }
  const authenticator = given ?? await openAuthenticator(config, log).catch(closeAndThrow)
  const openStreams = createOpenStreams(config.maxStreams)
  const storePart = createCheckedPart('state store', async () => await store.check())
  const metering = build && await openMetering({ build, openStreams, storePart, live }).catch(closeAndThrow)
  const subscriptions = createSubscriptions(bus, {
    keepAliveMs: config.keepAliveMs,
    onSlowReader: (id) => log.warn({ subscriptionId: id }, 'stream closed: its reader is too slow')
  })
  const sealer = createSealer(secrets, {
    onEphemeral: () => log.warn(
      'TRIVET_SECRETS is not set: sessions, and questions to clients, are lost when this process ends'
    )
  })
  const scopeGroups = createScopeGroups(catalog)
  const methods = createMethods({
    subscriptions,
    openStreams,
    scopeGroups,
    isWatching: config.watch !== 'off',
    requestTimeoutMs: config.requestTimeoutMs,
    handles: createHandles(store, {
      maxPerOwner: config.maxHandles, ...(metering && { onCreate: metering.countHandle })
    }),
    announce (uri, owner) {
      const event = { type: 'resource-updated', uri, ...(owner !== undefined && { owner }) } as const
      bus.publish(event).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
    }
  })

  const app = createFastify(log, config.trustedProxies)
  limitConnections(app.server, {
    maxConnections: config.maxStreams + MAX_OTHER_CONNECTIONS,
    isProxy: createRangeCheck(config.trustedProxies),
    onStalled: (client) => log.warn({ client }, 'connection closed: its client does not read'),
    onRefused: createOutageLog({ log, message: 'connections were refused' })
  })
  rememberPeers(app.server)
  const policy = createOriginPolicy(config)
  // Runs before the first connection. The policy depends on the address that the app listens on.
  app.server.once('listening', () => { if (!isLocal(app.server.address())) policy.expose() })
  const lifetimes = createLifetimes()
  // Each observer, the authorizer and the limiter is one line here.
  const observer = joinObservers([
    createLogObserver(log),
    ...(metering === undefined ? [] : [metering.observer])
  ])
  const limiter = createCallLimiter(backend.callCounter, readCallLimits({
    calls: config.limitCalls,
    allCalls: config.limitAllCalls,
    running: config.limitRunning,
    allRunning: config.limitAllRunning
  }))
  const tracer = await openRequestTracer(log).catch(closeAndThrow)
  const pipelineDependencies = { lifetimes, observer, authorizer: allowAll, limiter, tracer }
  const replies = createReplies(observer)
  const keepAlive = createKeepAlive(config.keepAliveMs)
  const answerDependencies = { waitingBytes: createWaitingBytes(), openStreams, keepAlive }
  const inputRounds = createInputRounds({ sealer, ttlMs: config.requestStateTtlMs })
  const pipeline = createPipeline({
    ...pipelineDependencies,
    methods,
    support: {
      era: 'modern',
      snapshotFor: () => catalog.current,
      openRound: inputRounds.open,
      toMissingCapability: missingClientCapability
    }
  })
  const eras: Era[] = [createModernEra({ pipeline, replies, ...answerDependencies })]
  const legacyDependencies = {
    config,
    log,
    catalog,
    methods,
    pipelineDependencies,
    answerDependencies,
    replies,
    store,
    bus,
    relay,
    eventLog,
    subscriptions,
    scopeGroups,
    sealer
  }
  // The first era in the list checks each request first. The modern era serves all others.
  if (config.legacy === 'on') eras.unshift(await openLegacyEra(legacyDependencies).catch(closeAndThrow))
  const shutdown = registerShutdown(app, {
    lifetimes,
    endStreams () {
      subscriptions.close()
      for (const era of eras) era.endStreams()
    },
    timeoutMs: config.shutdownTimeoutMs,
    drainMs: config.drainMs,
    async closeRest () {
      keepAlive.close()
      await Promise.all(eras.map(async (era) => await era.close()))
      await authenticator.close?.()
      await closeAll()
    }
  })
  const readiness = createReadiness(shutdown, [storePart])
  const { publicUrl, authIssuers: issuers, authScopes: scopes, path } = config
  const hasMetadata = publicUrl !== undefined && issuers.length > 0
  app.decorate('challenges', createChallenges({
    metadataUrl: hasMetadata ? metadataUrlOf(publicUrl) : undefined, scopes
  }))
  registerNotFound(app, { policy, replies })
  if (hasMetadata) {
    app.register(async (open) => registerResourceMetadata(open, { publicUrl, issuers, scopes, path }))
  }
  app.register(async (open) => registerHealthRoutes(open, readiness))
  app.register(async (guarded) => {
    registerGuards(guarded, { policy, authenticator, shutdown, replies })
    registerBody(guarded, { maxBodyBytes: config.maxBodyBytes, replies })
    registerMcpRoute(guarded, { path: config.path, eras, replies })
  })
  return { app, admin: metering?.createApp(log, readiness), catalog, drain: shutdown.drain }
}

async function openConfiguredBackend (
  { stateUrl, statePrefix }: AppConfig, log: FastifyBaseLogger
): Promise<OpenedBackend> {
  try {
    return await openBackend(stateUrl, { log, prefix: statePrefix })
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)], { cause: error })
  }
}

/** `undefined` if no secret outlives the process. */
async function readSecrets (
  { secrets }: AppConfig, backend: OpenedBackend, log: FastifyBaseLogger
): Promise<readonly string[] | undefined> {
  if (secrets.length > 0) return secrets
  try {
    const kept = backend.readKeptSecret?.()
    if (kept === undefined) return undefined
    log.info({ file: kept.file }, 'TRIVET_SECRETS is not set: the secret in this file is used')
    return [kept.secret]
  } catch (error) {
    await backend.close()
    throw new ConfigError([error instanceof Error ? error.message : String(error)], { cause: error })
  }
}

/** Whether only this machine can reach the address that the app listens on. */
function isLocal (address: ReturnType<FastifyInstance['server']['address']>): boolean {
  return typeof address === 'object' && address !== null && isLoopback(address.address)
}

// The composition root: it creates and connects all components.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Authenticator } from './access/authenticator.ts'
import { openAuthenticator } from './app/access.ts'
import { openMetering, type Build } from './app/admin.ts'
import { openAudit } from './app/audit.ts'
import { openConfiguredCatalog, toCheckedParts } from './app/catalog.ts'
import { openConnections } from './app/connections.ts'
import { openFiles } from './app/files.ts'
import { openCallLimiter } from './app/limits.ts'
import { registerRoutes } from './app/routes.ts'
import { openConfiguredBackend, openSealer } from './app/state.ts'
import { openTasks } from './app/tasks.ts'
import { openRequestTracer } from './app/tracing.ts'
import type { Clock } from './base/time.ts'
import type { Catalog } from './catalog/compiled/catalog.ts'
import { createLoadGuard, type LoadGuard } from './catalog/compiled/load-guard.ts'
import { createScopeGroups } from './catalog/compiled/scopes/scope-groups.ts'
import type { Environment } from './catalog/folder/environment-settings.ts'
import type { LiveCatalog } from './catalog/folder/live/live-catalog.ts'
import type { Era } from './http/era.ts'
import { createFastify } from './http/fastify.ts'
import { createKeepAlive } from './http/keep-alive.ts'
import { createModernEra } from './http/modern/era.ts'
import { createCheckedPart, createReadiness } from './http/readiness.ts'
import { createReplies } from './http/replies.ts'
import { registerShutdown } from './http/shutdown.ts'
import { openLegacyEra } from './legacy/open.ts'
import { OpenStreams } from './limits/open-streams.ts'
import { WaitingBytes } from './limits/waiting-bytes.ts'
import { completeConfig, ConfigError, type AppConfig } from './ops/config/config.ts'
import { openLog, type ServiceLog } from './ops/log/log.ts'
import type { MemoryLimits } from './ops/overload/pressure.ts'
import { createShedReport } from './ops/overload/shed-report.ts'
import { createShedding } from './ops/overload/shedding.ts'
import { missingClientCapability } from './protocol/errors.ts'
import { createMethods } from './request/methods/method-list.ts'
import { createLifetimes } from './request/pipeline/lifetimes.ts'
import { createLogObserver } from './request/pipeline/log-observer.ts'
import { joinObservers } from './request/pipeline/observer.ts'
import { createPipeline, type Pipeline } from './request/pipeline/pipeline.ts'
import { createInputRounds } from './request/questions/sealed-input-round.ts'
import type { EventBus } from './store/changes/event-bus.ts'
import { createSubscriptions } from './store/changes/subscriptions.ts'
import { createFirstAnswers } from './store/records/first-answers.ts'
import { createHandles } from './store/records/handles.ts'
import type { Tasks } from './tasks/tasks.ts'

/**
 * The options of `createApp`: the settings in the README's table, with names in camel case. Each has a
 * default. `host` and `port` are not options: the embedding program calls `listen`. Nor are `adminHost`,
 * `adminPort`, `logLevelFile` and `otlpUrl`: only the service that runs as a process of its own serves
 * metrics, takes signals, and sends traces by itself.
 */
export interface AppOptions extends Partial<AppConfig> {
  /** Receives the log. By default a pino logger that writes to standard output. */
  logger?: FastifyBaseLogger
  /** Finds the principal of each request, instead of the modes of `auth`. */
  authenticator?: Authenticator
  /** The variables in which `defineSettings` finds values, such as `process.env`. None by default. */
  environment?: Environment
}

const BOTH_GIVEN = 'auth and authenticator are both given: an authenticator takes the place of all modes'

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
  /** Serves requests of the modern era. A test of a catalog calls it directly, without HTTP. */
  readonly pipeline: Pipeline
  readonly bus: EventBus
  readonly lists: LiveCatalog['lists']
  readonly tasks: Tasks
  /**
   * Reports "not ready", and waits until load balancers send requests elsewhere. Call `app.close()`
   * afterwards.
   */
  drain (): Promise<void>
  /** Begins a load of the whole catalog, also if no file has changed, and opens the audit log anew. */
  reload (): void
}

/** What a service has that runs as a process of its own. */
export interface OwnProcess {
  readonly guard: LoadGuard
  /** Takes the place of the option `logger`. */
  readonly log?: ServiceLog
  /** By default the memory of the machine, and the heap that V8 reports. */
  readonly memory?: MemoryLimits | undefined
  /** Present if the service shall measure itself and have an admin app. */
  readonly build?: Build | undefined
}

/**
 * Does the work of `createApp`. Also returns the catalog, which the start message describes.
 * @param clock decides when handles, request states, first answers and the counts of calls expire. Sessions
 * do not use it.
 */
export async function createService (
  { logger, authenticator: given, environment = {}, ...options }: AppOptions,
  own?: OwnProcess,
  clock: Clock = {}
): Promise<Service> {
  const { guard = createLoadGuard(), build } = own ?? {}
  const config = completeConfig(options)
  if (given !== undefined && config.auth.length > 0) throw new ConfigError([BOTH_GIVEN])
  const requestLog = own?.log ?? (logger === undefined ? openLog(config.logLevel) : { logger })
  const log: FastifyBaseLogger = requestLog.logger
  const backend = await openConfiguredBackend(config, log, clock)
  const { store, bus, relay, eventLog } = backend
  const sealer = await openSealer(config, backend, log, clock)
  const live = await openConfiguredCatalog(config, { environment, backend, log, guard, clock })
  const { catalog } = live
  const opened: Array<{ close (): Promise<void> }> = [live, backend]
  const closeAll = async () => {
    for (const part of opened) await part.close()
  }
  const closeAndThrow = async (error: unknown): Promise<never> => {
    await closeAll()
    throw error
  }
  const filesDependencies = { backend, sealer, catalog, environment, log, clock }
  const files = await openFiles(config, filesDependencies).catch(closeAndThrow)
  opened.unshift(files)
  const authenticator = given ?? await openAuthenticator(config, log).catch(closeAndThrow)
  const audit = await openAudit(config.auditFile, log).catch(closeAndThrow)
  if (audit !== undefined) opened.push(audit)
  const openStreams = new OpenStreams(config.maxStreams)
  const storePart = createCheckedPart('state store', async () => await store.check())
  const lifetimes = createLifetimes()
  const shedding = createShedding({
    ...config,
    memory: own?.memory,
    countRequests: () => lifetimes.pending,
    report: createShedReport(log)
  })
  const metering = build && await openMetering({ build, openStreams, shedding, storePart, backend, live })
    .catch(closeAndThrow)
  const subscriptions = createSubscriptions(bus, {
    keepAliveMs: config.keepAliveMs,
    onSlowReader: (id) => log.warn({ subscriptionId: id }, 'stream closed: its reader is too slow')
  })
  // A process loads its catalog again after SIGHUP too.
  const changingLists = live.findChangingLists(own !== undefined || config.watch !== 'off')
  const scopeGroups = createScopeGroups(catalog)
  const tasks = openTasks(config, { backend, catalog, log, clock, sealer })
  const methods = [...tasks.methods, ...createMethods({
    files: files.access,
    tasks: tasks.starter,
    taskFollowers: tasks.followers,
    subscriptions,
    openStreams,
    scopeGroups,
    changingLists,
    lists: live.lists,
    requestTimeoutMs: config.requestTimeoutMs,
    handles: createHandles(store, {
      ...clock, maxPerOwner: config.maxHandles, ...(metering && { onCreate: metering.countHandle })
    }),
    firstAnswers: createFirstAnswers(store, clock.now),
    announce (uri, owner) {
      const event = { type: 'resource-updated', uri, ...(owner !== undefined && { owner }) } as const
      bus.publish(event).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
    }
  })]

  const app = createFastify(log, config)
  app.addHook('onReady', async () => shedding.start())
  const policy = openConnections(app, { config, log })
  // Each observer is one line here.
  const observer = joinObservers([
    createLogObserver(requestLog),
    ...(metering === undefined ? [] : [metering.observer]),
    ...(audit === undefined ? [] : [audit.observer])
  ])
  const limiter = openCallLimiter(config, backend.callCounter, metering?.countLimitHit)
  const tracer = await openRequestTracer(log).catch(closeAndThrow)
  const pipelineDependencies = { lifetimes, observer, limiter, tracer }
  const replies = createReplies(observer, tracer)
  const keepAlive = createKeepAlive(config.keepAliveMs)
  const answerDependencies = { waitingBytes: new WaitingBytes(), openStreams, keepAlive }
  const inputRounds = createInputRounds({ ...clock, sealer, ttlMs: config.requestStateTtlMs })
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
  tasks.start(pipeline)
  const eras: Era[] = [createModernEra({ pipeline, replies, ...answerDependencies })]
  const legacyDependencies = {
    config,
    changingLists,
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
      tasks.stopTaking()
      subscriptions.close()
      for (const era of eras) era.endStreams()
    },
    timeoutMs: config.shutdownTimeoutMs,
    drainMs: config.drainMs,
    async closeRest () {
      keepAlive.close()
      shedding.close()
      await Promise.all(eras.map(async (era) => await era.close()))
      await authenticator.close?.()
      await tasks.close()
      await closeAll()
    }
  })
  const readiness = createReadiness(shutdown, () => [storePart, ...toCheckedParts(catalog.current)])
  registerRoutes(app, {
    config, policy, authenticator, shutdown, shedding, replies, openStreams, readiness, eras, files
  })
  const admin = metering?.createApp(log, readiness)
  const reload = () => {
    live.reload()
    audit?.reopen()
  }
  return { app, admin, catalog, pipeline, bus, lists: live.lists, tasks, drain: shutdown.drain, reload }
}

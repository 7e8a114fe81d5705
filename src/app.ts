// The composition root: opens each part, composes the methods and the eras, and registers the routes.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Authenticator } from './access/authentication.ts'
import { openAuthenticator } from './app/access.ts'
import { openMetering, type Build } from './app/admin.ts'
import { openServedCatalog, toCheckedParts } from './app/catalog.ts'
import { openFiles } from './app/files.ts'
import { registerRoutes } from './app/http.ts'
import { composeCallLimiter, composeMethods, openTasks } from './app/methods.ts'
import { failStart, openSealer, openStateBackend } from './app/state.ts'
import { Lifecycle } from './base/lifecycle.ts'
import type { Clock } from './base/time.ts'
import type { Catalog } from './catalog/compiled/catalog.ts'
import { createLoadGuard, type LoadGuard } from './catalog/compiled/load-guard.ts'
import { createScopeGroups } from './catalog/compiled/scopes/scope-groups.ts'
import type { Variables } from './catalog/folder/environment-settings.ts'
import type { LiveCatalog } from './catalog/folder/live/live-catalog.ts'
import type { Era } from './http/era.ts'
import { createKeepAlive } from './http/event-stream.ts'
import { createFastify } from './http/fastify.ts'
import { createModernEra } from './http/modern/era.ts'
import { CheckedPart, Readiness } from './http/readiness.ts'
import { createReplies } from './http/replies.ts'
import { registerShutdown } from './http/shutdown.ts'
import { openLegacyEra } from './legacy/open.ts'
import { OpenStreams } from './limits/open-streams.ts'
import { WaitingBytes } from './limits/waiting-bytes.ts'
import { openAuditLog } from './ops/audit/audit-log.ts'
import { completeConfig, ConfigError, type AppConfig } from './ops/config/config.ts'
import type { Constants } from './ops/config/constants.ts'
import { openLog, type ServiceLog } from './ops/log/log.ts'
import type { MemoryLimits } from './ops/overload/pressure.ts'
import { createShedReport } from './ops/overload/shed-report.ts'
import { createShedding } from './ops/overload/shedding.ts'
import { missingClientCapability } from './protocol/errors.ts'
import { Lifetimes } from './request/pipeline/lifetimes.ts'
import { createLogObserver } from './request/pipeline/log-observer.ts'
import { joinObservers } from './request/pipeline/observer.ts'
import { Pipeline } from './request/pipeline/pipeline.ts'
import { SealedInputRound } from './request/questions/sealed-input-round.ts'
import type { Broadcast } from './store/changes/broadcast.ts'
import { createSubscriptions } from './store/changes/subscriptions.ts'
import type { Tasks } from './tasks/tasks.ts'

/**
 * The options of `createApp`: the settings of docs/settings.md, with names in camel case. Each has a
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
  environment?: Variables
  /** @internal Other values of what no operator sets. Only tests have a use for it. */
  constants?: Partial<Constants>
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
  /** The app of the admin address. It must listen by itself. */
  readonly admin: FastifyInstance | undefined
  readonly catalog: Catalog
  /** Serves requests of the modern era. A test of a catalog calls it directly, without HTTP. */
  readonly pipeline: Pipeline
  readonly broadcast: Broadcast
  readonly lists: LiveCatalog['lists']
  readonly tasks: Tasks
  /** Reports "not ready", and waits until load balancers send requests elsewhere. Call `close` afterwards. */
  drain (): Promise<void>
  /** Begins a load of the whole catalog, also if no file has changed, and opens the audit log anew. */
  reload (): void
  /** Closes the app, and then the admin app: the metrics of the shutdown can be read. */
  close (): Promise<void>
}

/** The dependencies of a service that runs as a process of its own. */
export interface OwnProcess {
  readonly guard: LoadGuard
  /** Takes the place of the option `logger`. */
  readonly log?: ServiceLog
  /** The memory to watch. The memory of the machine by default, and the heap that V8 reports. */
  readonly memory?: MemoryLimits | undefined
  /** Present if the service shall measure itself and have an admin app. */
  readonly build?: Build | undefined
  /** Ends the start when it aborts: all that is open is closed, and `createService` rejects. */
  readonly signal?: AbortSignal
}

/**
 * Does the work of `createApp`. Also returns the catalog, which the start message describes.
 * @param clock decides when handles, request states, first answers and the counts of calls expire. Sessions
 * do not use it.
 */
export async function createService (
  options: AppOptions, own?: OwnProcess, clock: Clock = {}
): Promise<Service> {
  const lifecycle = new Lifecycle(own?.signal)
  return await lifecycle.start(async () => await openService(options, own, clock, lifecycle))
}

async function openService (
  { logger, authenticator: givenAuthenticator, environment = {}, ...options }: AppOptions,
  own: OwnProcess | undefined, clock: Clock, lifecycle: Lifecycle
): Promise<Service> {
  const config = completeConfig(options)
  if (givenAuthenticator !== undefined && config.auth.length > 0) throw new ConfigError([BOTH_GIVEN])
  const requestLog = own?.log ?? (logger === undefined ? openLog(config.logLevel) : { logger })
  const log: FastifyBaseLogger = requestLog.logger
  const { guard = createLoadGuard(), build, memory } = own ?? {}
  const { signal } = lifecycle

  // 1. The parts that store something or wait for something.
  const audit = await lifecycle.open(openAuditLog(config.auditFile, log))
  const backend = await lifecycle.open(openStateBackend(config, { log, clock }, signal))
  const { store, broadcast, eventLog } = backend
  const sealer = openSealer(config, backend, { log, clock })
  const catalogDependencies = { environment, broadcast, log, guard, clock, signal }
  const live = await lifecycle.open(openServedCatalog(config, catalogDependencies))
  const { catalog } = live
  const files = await lifecycle.open(openFiles(config, { backend, sealer, catalog, environment, log, clock }))
  const authenticator = givenAuthenticator ?? await lifecycle.open(openAuthenticator(config, log))
  const tasks = lifecycle.add(openTasks(config, { backend, catalog, sealer, log, clock }))

  // 2. The parts that measure and limit.
  const lifetimes = new Lifetimes()
  const openStreams = new OpenStreams(config.maxStreams)
  const shedding = lifecycle.add(createShedding({
    ...config, memory, countRequests: () => lifetimes.pending, report: createShedReport(log)
  }))
  const storePart = new CheckedPart('state store', async () => await store.check())
  const metering = build && await openMetering({ build, openStreams, shedding, storePart, backend, live })
  const limiter = composeCallLimiter(config, backend, metering?.countLimitHit)
  const tracer = await (await import('./ops/tracing/tracing.ts')).openRequestTracer(log)
  const observer = joinObservers([
    createLogObserver(requestLog),
    ...(metering === undefined ? [] : [metering.observer]),
    ...(audit === undefined ? [] : [audit.observer])
  ])

  // 3. The methods.
  const subscriptions = createSubscriptions(broadcast, {
    keepAliveMs: config.keepAliveMs,
    onSlowReader: (id) => log.warn({ subscriptionId: id }, 'stream closed: its reader is too slow')
  })
  // A process loads its catalog again after SIGHUP too.
  const changingLists = live.findChangingLists(own !== undefined || config.watch !== 'off')
  const scopeGroups = createScopeGroups(catalog)
  const methods = composeMethods(config, {
    backend,
    tasks,
    log,
    clock,
    subscriptions,
    openStreams,
    scopeGroups,
    changingLists,
    lists: live.lists,
    files: files.access,
    countHandle: metering?.countHandle
  })

  // 4. The eras. The first one checks each request first; the modern era serves all others.
  const pipelineDependencies = { lifetimes, observer, limiter, tracer }
  const replies = createReplies(observer, tracer)
  const keepAlive = lifecycle.add(createKeepAlive(config.keepAliveMs))
  const answerDependencies = { waitingBytes: new WaitingBytes(), openStreams, keepAlive }
  const roundOptions = { ...clock, sealer, ttlMs: config.requestStateTtlMs }
  const pipeline = new Pipeline({
    ...pipelineDependencies,
    methods,
    support: {
      era: 'modern',
      snapshotFor: () => catalog.current,
      openRound: (round) => new SealedInputRound(roundOptions, round),
      toMissingCapability: missingClientCapability
    }
  })
  tasks.start(pipeline)
  const eras: Era[] = [lifecycle.add(createModernEra({ pipeline, replies, ...answerDependencies }))]
  const eraParts = {
    config,
    changingLists,
    log,
    catalog,
    methods,
    pipelineDependencies,
    answerDependencies,
    replies,
    store,
    broadcast,
    eventLog,
    subscriptions,
    scopeGroups,
    sealer
  }
  if (config.legacy === 'on') eras.unshift(await lifecycle.open(openLegacyEra(eraParts).catch(failStart)))

  // 5. The app, its shutdown and its routes.
  const app = createFastify(log, config)
  app.addHook('onReady', async () => shedding.start())
  if (givenAuthenticator !== undefined) lifecycle.add(givenAuthenticator)
  const shutdown = registerShutdown(app, {
    lifetimes,
    endStreams () {
      tasks.stopTaking()
      subscriptions.close()
      for (const era of eras) era.endStreams()
    },
    timeoutMs: config.shutdownTimeoutMs,
    drainMs: config.drainMs,
    closeRest: async () => await lifecycle.close()
  })
  const readiness = new Readiness(shutdown, () => [storePart, ...toCheckedParts(catalog.current)])
  registerRoutes(app, config, {
    authenticator, shutdown, shedding, replies, openStreams, readiness, eras, files
  })
  const admin = metering?.createApp(log, readiness)
  return {
    app,
    admin,
    catalog,
    pipeline,
    broadcast,
    lists: live.lists,
    tasks,
    drain: shutdown.drain,
    reload () {
      live.reload()
      audit?.reopen()
    },
    async close () {
      await app.close()
      await admin?.close()
    }
  }
}

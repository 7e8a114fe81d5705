// The composition root: opens each part, composes the methods and the eras, and registers the routes.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Authenticator } from '../platform/access/authentication.ts'
import { CallerTokens } from '../platform/access/caller-tokens.ts'
import { createTokenWatch, type TokenWatch } from '../platform/access/token-watch.ts'
import { mayBeAnonymous, openAuthenticator } from './access.ts'
import { openAdminApp } from './admin.ts'
import type { Features, ServedAdmin, ServedAudit, ServedFiles, Prepared } from './features.ts'
import { openFiles } from './files.ts'
import { countLargeAnswers, registerRoutes } from './http.ts'
import { openMeasures, type OpenedMeasures } from './measures.ts'
import { composeMethods } from './methods.ts'
import type { OwnProcess, TestedParts } from './own-process.ts'
import { failStart, openServiceState, toCheckedParts, type OpenedState } from './state.ts'
import { prepareSignIn } from './sign-in.ts'
import { openTasks } from './tasks.ts'
import { Lifecycle } from '../base/lifecycle.ts'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import { createLoadGuard } from '../catalog/compiled/load-guard.ts'
import { createScopeGroups } from '../request/pipeline/scope-groups.ts'
import type { Variables } from '../catalog/folder/environment-settings.ts'
import type { LiveCatalog } from '../catalog/folder/live/live-catalog.ts'
import type { Era } from '../edges/http/era.ts'
import { createKeepAlive } from '../edges/http/event-stream.ts'
import { createFastify } from '../edges/http/fastify.ts'
import { createModernEra } from '../edges/http/modern/era.ts'
import { Readiness, type CheckedPart } from '../edges/http/readiness.ts'
import { createReplies, type Replies } from '../edges/http/replies.ts'
import { registerShutdown } from '../edges/http/shutdown.ts'
import { openLegacyEra } from '../edges/legacy/open.ts'
import { openAuditLog } from '../features/audit/audit-log.ts'
import { completeConfig, ConfigError, failConfig, type AppConfig } from '../ops/config/config.ts'
import type { Constants } from '../ops/config/constants.ts'
import { openOwnLog } from '../ops/log/log.ts'
import { missingClientCapability } from '../platform/protocol/errors.ts'
import type { ListName } from '../platform/protocol/notifications.ts'
import { createLogObserver } from '../request/pipeline/log-observer.ts'
import { joinObservers, type Observer } from '../request/pipeline/observer.ts'
import { Pipeline } from '../request/pipeline/pipeline.ts'
import { createToolRuns } from '../request/pipeline/run-tool.ts'
import type { ToolRuns } from '../request/pipeline/seams.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'
import type { RoundRequest } from '../request/questions/input-round.ts'
import { SealedInputRound } from '../request/questions/sealed-input-round.ts'
import type { Broadcast } from '../platform/store/changes/broadcast.ts'
import { createSubscriptions } from '../platform/store/changes/subscriptions.ts'

/**
 * The options of `createApp`: the settings of docs/settings.md, with names in camel case. Each has a
 * default. `host` and `port` are not options: the embedding program calls `listen`. Nor are `workers`,
 * `adminHost`, `adminPort`, `adminToken`, `logLevelFile` and `otlpUrl`: only the service that runs as a
 * process of its own has workers and an admin address, takes signals, and sends traces by itself.
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

export interface Service extends ServedAdmin {
  readonly app: FastifyInstance
  readonly catalog: Catalog
  /** Serves requests of the modern era. A test of a catalog calls it directly, without HTTP. */
  readonly pipeline: Pipeline
  readonly broadcast: Broadcast
  readonly lists: LiveCatalog['lists']
  readonly tasks: ServedTasks | undefined
  /** Runs the tools of tasks again. */
  readonly toolRuns: ToolRuns
  /** Reports "not ready". */
  turnUnready (): void
  /**
   * Reports "not ready", and waits until load balancers send requests elsewhere. Call `close` afterwards.
   * @param timeoutMs how long requests may take then, instead of `shutdownTimeoutMs`.
   */
  drain (timeoutMs?: number): Promise<void>
  /** Begins a load of the whole catalog, also if no file has changed, and opens the audit log anew. */
  reload (): void
  /** Closes the app, and then the admin app: the metrics of the shutdown can be read. */
  close (): Promise<void>
}

/**
 * Does the work of `createApp`. Also returns the catalog, which the start message describes.
 * @param tested what a test of a catalog gives to the service.
 */
export async function createService (
  options: AppOptions, ownProcess?: OwnProcess, tested: TestedParts = {}
): Promise<Service> {
  const lifecycle = new Lifecycle(ownProcess?.signal)
  return await lifecycle.start(async () => await openService(options, ownProcess, tested, lifecycle))
}

async function openService (
  { logger, authenticator: ownAuthenticator, environment = {}, ...options }: AppOptions,
  ownProcess: OwnProcess | undefined,
  tested: TestedParts,
  lifecycle: Lifecycle
): Promise<Service> {
  const constants = { ...options.constants, workerCount: ownProcess?.workers?.count ?? 1 }
  const config = completeConfig({ ...options, constants })
  if (ownAuthenticator !== undefined && config.auth.length > 0) throw new ConfigError([BOTH_GIVEN])
  const requestLog = ownProcess?.log ??
    (logger === undefined ? openOwnLog(config.logLevel, lifecycle) : { logger })
  const log: FastifyBaseLogger = requestLog.logger
  const { clock = {}, ownObserver = {} } = tested
  const { guard = createLoadGuard(), build, workers, adminToken: token } = ownProcess ?? {}
  const { authorConsole, desk } = ownProcess ?? {}

  const { audit }: { readonly audit?: ServedAudit | undefined } = {
    audit: await lifecycle.open(openAuditLog(config.auditFile, log).catch(failConfig))
  }
  const admitsAnonymous = mayBeAnonymous(config, ownAuthenticator)
  const tokens = ownAuthenticator === undefined ? new CallerTokens() : undefined
  const loadObserver = authorConsole?.report
  const isForAuthor = ownProcess?.isForAuthor === true
  const parts: CheckedPart[] = []
  const { signIn }: Prepared = {
    signIn: await prepareSignIn(config, desk?.signIn)
  }
  const author = { desk, loadObserver, isForAuthor }
  const basis = { config, environment, log, clock, guard, admitsAnonymous, tokens, signIn, ...author }
  // Before the state: a start without usable tokens leaves no file with a secret behind.
  const authenticator = ownAuthenticator ?? await lifecycle.open(
    openAuthenticator(config, log, parts, tokens, [signIn?.verifier, desk?.verifier])
  )
  const state = await openServiceState(basis, lifecycle, tested)
  await signIn?.open(state)
  const { backend, live, catalog, upstreams } = state
  const { files, tasks }: Features = {
    files: await lifecycle.open(openFiles(config, state)),
    tasks: lifecycle.add(openTasks(state, upstreams?.taskTokens(catalog), authorConsole?.taskLog))
  }
  if (tasks !== undefined) {
    authorConsole?.showTasks(async (id, about) => await tasks.operator.record(id, about))
  }
  const measures = await openMeasures(state, ownProcess ?? {}, tasks)
  const { lifetimes, openStreams, limiter, storePart, metrics, tracer } = measures
  const shedding = lifecycle.add(measures.shedding)
  const observer = joinObservers([
    createLogObserver(requestLog, measures.describeCall),
    ownObserver,
    ...(metrics === undefined ? [] : [metrics.observer]),
    ...(audit === undefined ? [] : [audit.observer])
  ])
  const replies = createReplies(observer, tracer)
  // A process loads its catalog again after SIGHUP too.
  const changingLists = live.findChangingLists(ownProcess !== undefined || config.watch !== 'off')
  const tokenWatch = lifecycle.add(createTokenWatch(authenticator))
  const dependencies = { tokenWatch, files, tasks, observer, replies, changingLists }
  const { pipeline, toolRuns, eras, subscriptions } = await openEras(state, measures, dependencies, lifecycle)

  const app = createFastify(log, { ...config, isOwnLog: logger === undefined })
  app.addHook('onReady', async () => shedding?.start())
  if (ownAuthenticator !== undefined) lifecycle.add(ownAuthenticator)
  const shutdown = registerShutdown(app, {
    lifetimes,
    endStreams () {
      tasks?.stopTaking()
      subscriptions.close()
      for (const era of eras) era.endStreams()
    },
    timeoutMs: config.shutdownTimeoutMs,
    drainMs: config.drainMs,
    closeRest: async () => await lifecycle.close()
  })
  const readiness = new Readiness(shutdown, () => [storePart, ...parts, ...toCheckedParts(catalog.current)])
  registerRoutes(app, config, {
    authenticator,
    shutdown,
    shedding,
    replies,
    openStreams,
    limiter,
    readiness,
    eras,
    files,
    signIn,
    readSigningKeys: () => upstreams?.readSigningKeys(catalog),
    authorPages: [authorConsole, desk]
  })
  const operated = { readiness, tasks, token, version: build?.version ?? '', audit, workers }
  const { admin, reports }: ServedAdmin = {
    ...build && openAdminApp(state, { ...operated, metrics, isTraced: tracer !== undefined })
  }
  return {
    app,
    ...admin && { admin },
    ...reports && { reports },
    catalog,
    pipeline,
    broadcast: backend.broadcast,
    lists: live.lists,
    tasks,
    toolRuns,
    turnUnready: shutdown.turnUnready,
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

/** What the eras take beside the state and the measures. */
interface EraParts {
  readonly tokenWatch: TokenWatch
  readonly files: ServedFiles | undefined
  readonly tasks: ServedTasks | undefined
  readonly observer: Required<Observer>
  readonly replies: Replies
  readonly changingLists: ReadonlySet<ListName>
}

/** Opens the eras: the first one checks each request first, and the modern era serves all others. */
async function openEras (
  state: OpenedState, { lifetimes, openStreams, limiter, tracer, metrics }: OpenedMeasures,
  { tokenWatch, files, tasks, observer, replies, changingLists }: EraParts, lifecycle: Lifecycle
) {
  const { config, log, clock, sealer, catalog, live, backend: { store, broadcast, eventLog } } = state
  const subscriptions = lifecycle.add(createSubscriptions(broadcast, {
    keepAliveMs: config.keepAliveMs,
    onSlowReader: (id) => log.warn({ subscriptionId: id }, 'stream closed: its reader is too slow')
  }))
  const shared = { subscriptions, tokenWatch, scopeGroups: createScopeGroups(catalog), changingLists }
  const { methods, dependencies } = composeMethods(state, {
    ...shared, openStreams, tasks, files: files?.access, lists: live.lists, countHandle: metrics?.countHandle
  })
  const keepAlive = lifecycle.add(createKeepAlive(config.keepAliveMs))
  const { waitingBytes, largeResults } = countLargeAnswers(config, log)
  const pipelineDependencies = { lifetimes, observer, limiter, tracer, largeResults }
  const answerDependencies = { waitingBytes, openStreams, keepAlive }
  const roundOptions = { ...clock, sealer, ttlMs: config.requestStateTtlMs }
  const openKeptRound = (round: RoundRequest) => new SealedInputRound(roundOptions, round)
  const pipeline = new Pipeline({
    ...pipelineDependencies,
    methods,
    support: {
      era: 'modern',
      snapshotFor: () => catalog.current,
      openRound: openKeptRound,
      toMissingCapability: missingClientCapability
    }
  })
  const toolRuns = createToolRuns(catalog, pipeline, dependencies)
  tasks?.start(toolRuns)
  const eras: Era[] = [lifecycle.add(createModernEra({ pipeline, replies, ...answerDependencies }))]
  const eraParts = {
    ...shared,
    config,
    log,
    catalog,
    sealer,
    store,
    broadcast,
    eventLog,
    methods,
    replies,
    pipelineDependencies,
    answerDependencies,
    openKeptRound,
    signal: lifecycle.signal
  }
  const toStartError = failStart(config.stateUrl)
  if (config.legacy === 'on') eras.unshift(await lifecycle.open(openLegacyEra(eraParts).catch(toStartError)))
  return { pipeline, toolRuns, eras, subscriptions }
}

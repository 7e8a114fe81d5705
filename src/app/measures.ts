// Opens what measures requests and limits them, and the app of the admin address.

import type { FastifyInstance } from 'fastify'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { Reloads } from '../catalog/folder/live/live-catalog.ts'
import { createAdminApp } from '../edges/admin/admin-app.ts'
import { CheckedPart, type Readiness, type ServicePart } from '../edges/http/readiness.ts'
import { createCallLimiter, type DefaultRates } from '../platform/limits/call-limiter.ts'
import { readCallLimits } from '../platform/limits/call-limits.ts'
import { createLocalCallCounter } from '../platform/limits/local-call-counter.ts'
import { OpenStreams } from '../platform/limits/open-streams.ts'
import { NO_RATE } from '../platform/limits/rate.ts'
import type { AuditLog } from '../ops/audit/audit-log.ts'
import type { Metrics } from '../ops/metrics/metrics.ts'
import { Shedding } from '../ops/overload/shedding.ts'
import { Lifetimes } from '../request/pipeline/lifetimes.ts'
import type { Tasks } from '../features/tasks/tasks.ts'
import type { ProcessFacts, WorkerReports, Workers } from './own-process.ts'
import type { OpenedState } from './state.ts'
import { createStoreCheck } from './store-check.ts'

/** The levels of a log that has the lines of requests. */
const SHOWING_LEVELS: ReadonlySet<string> = new Set(['trace', 'debug', 'info'])

export type OpenedMeasures = Awaited<ReturnType<typeof openMeasures>>

export async function openMeasures (
  state: OpenedState, { memory, build, isForAuthor }: ProcessFacts, tasks: Pick<Tasks, 'counts' | 'operator'>
) {
  const { config, log, backend: { store, broadcast, callCounter }, live, upstreams } = state
  const lifetimes = new Lifetimes()
  const openStreams = new OpenStreams(config.maxStreams)
  const shedding = new Shedding({ ...config, memory, log, countRequests: () => lifetimes.pending })
  const storePart = new CheckedPart('state store', createStoreCheck(store, { log }))
  // Imported only when the service has an admin address: the library takes time to load.
  const metrics = build && (await import('../ops/metrics/metrics.ts')).createMetrics({
    build,
    openStreams: () => openStreams.size,
    shedding,
    isStoreReady: async () => (await storePart.check()).ready,
    tasks: { counts: tasks.counts, countStuck: async () => await tasks.operator.countStuck() },
    isBroadcastReady: () => broadcast.isConnected,
    upstreamCalls: () => upstreams.running,
    catalog: () => ({ ...toFacts(live.catalog.current), reloads: live.reloads })
  })
  if (metrics !== undefined) upstreams.onCall = metrics.observeUpstreamCall
  const limits = readCallLimits({
    calls: config.maxCallsPerCaller === NO_RATE ? undefined : config.maxCallsPerCaller,
    running: config.maxRunningPerCaller,
    allRunning: config.maxRunning,
    resultBytes: config.maxResultBytes
  })
  const limiter = createCallLimiter(callCounter, limits, {
    defaults: toDefaultRates(state), onHit: metrics?.countLimitHit
  })
  const tracer = await (await import('../ops/tracing/tracing.ts')).openRequestTracer(log)
  const describeCall = isForAuthor === true
    ? (await import('../ops/audit/call-details.ts')).createCallDetails({
        isShown: () => SHOWING_LEVELS.has(log.level),
        readSecrets: () => live.catalog.current.settings.secrets
      })
    : undefined
  return { lifetimes, openStreams, shedding, storePart, metrics, limiter, tracer, describeCall }
}

function toDefaultRates ({ config, clock }: OpenedState): DefaultRates | undefined {
  if (config.maxCallsPerCaller === NO_RATE) return undefined
  const perMs = 60_000
  return {
    counter: createLocalCallCounter(clock),
    calls: { calls: config.callsPerMinute, perMs },
    requests: { calls: config.requestsPerMinute, perMs }
  }
}

interface AdminDependencies {
  readonly metrics: Metrics
  readonly readiness: Readiness
  readonly tasks: Pick<Tasks, 'operator'>
  readonly token: string | undefined
  /** The version of Trivet. */
  readonly version: string
  /** Whether requests are traced. */
  readonly isTraced: boolean
  readonly audit: Pick<AuditLog, 'noteOperator'> | undefined
  readonly workers: Workers | undefined
}

/** Builds the app of the admin address, which does not listen, and what it tells the other workers. */
export function openAdminApp (
  { log, live }: OpenedState, { metrics, readiness, tasks, audit, workers, ...own }: AdminDependencies
): { readonly admin: FastifyInstance, readonly reports: WorkerReports } {
  const reports: WorkerReports = {
    metrics: async () => await metrics.values(),
    async health () {
      const parts = [...await readiness.parts(), describeCatalog(live.catalog.current, live.reloads)]
      return { ready: parts.every(({ ready }) => ready), parts }
    }
  }
  const admin = createAdminApp({
    log,
    metrics: { contentType: metrics.contentType, text: workers?.metrics ?? metrics.text },
    health: workers?.health ?? reports.health,
    tasks: tasks.operator,
    ...own,
    onAct (act) {
      const { requestId: reqId, ...facts } = act
      const done = act.action === 'values' ? 'read the values of a task' : 'changed a task'
      if (act.outcome === 'ok') log.info({ ...facts, reqId }, `an operator ${done}`)
      else log.warn({ ...facts, reqId }, 'an operator was refused')
      audit?.noteOperator(act)
    }
  })
  return { admin, reports }
}

function toFacts ({ version, primitives: { tools, prompts, listed, templates, skills } }: Snapshot) {
  const sizes = {
    tool: tools.length,
    prompt: prompts.length,
    resource: listed.length,
    resource_template: templates.length,
    skill: skills.length
  }
  return { version, sizes }
}

/** Ready in any case: while a reload fails, the catalog before it is served. */
function describeCatalog ({ version }: Snapshot, { failure }: Reloads): ServicePart {
  const part = { name: 'catalog', ready: true, version }
  if (failure === undefined) return part
  const { at, problem } = failure
  return { ...part, lastReload: { failedAt: new Date(at).toISOString(), ...problem } }
}

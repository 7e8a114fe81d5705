// Opens what measures requests and limits them.

import { CheckedPart } from '../edges/http/readiness.ts'
import { createCallLimiter, type DefaultRates } from '../platform/limits/call-limiter.ts'
import { readCallLimits } from '../platform/limits/call-limits.ts'
import { createLocalCallCounter } from '../platform/limits/local-call-counter.ts'
import { OpenStreams } from '../platform/limits/open-streams.ts'
import { NO_RATE } from '../platform/limits/rate.ts'
import { Lifetimes } from '../request/pipeline/lifetimes.ts'
import type { DescribeCall } from '../request/pipeline/observer.ts'
import type { RequestTracer } from '../request/pipeline/request-tracer.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'
import type { ServedMetrics, ServedShedding } from './features.ts'
import { openMetrics } from './metrics.ts'
import { openShedding } from './overload.ts'
import type { ProcessFacts } from './own-process.ts'
import type { OpenedState } from './state.ts'
import { createStoreCheck } from './store-check.ts'

/** The levels of a log that has the lines of requests. */
const SHOWING_LEVELS: ReadonlySet<string> = new Set(['trace', 'debug', 'info'])

export type OpenedMeasures = Awaited<ReturnType<typeof openMeasures>>

export async function openMeasures (
  state: OpenedState, facts: ProcessFacts, tasks: ServedTasks | undefined
) {
  const { config, log, backend: { store, callCounter }, live } = state
  const lifetimes = new Lifetimes()
  const openStreams = new OpenStreams(config.maxStreams)
  const { shedding }: { readonly shedding?: ServedShedding } = {
    shedding: openShedding(state, facts, () => lifetimes.pending)
  }
  const storePart = new CheckedPart('state store', createStoreCheck(store, { log }))
  const { metrics }: { readonly metrics?: ServedMetrics | undefined } = {
    metrics: await openMetrics(state, facts, { openStreams, shedding, storePart, tasks })
  }
  const limits = readCallLimits({
    calls: config.maxCallsPerCaller === NO_RATE ? undefined : config.maxCallsPerCaller,
    running: config.maxRunningPerCaller,
    allRunning: config.maxRunning,
    resultBytes: config.maxResultBytes
  })
  const limiter = createCallLimiter(callCounter, limits, {
    defaults: toDefaultRates(state), onHit: metrics?.countLimitHit
  })
  const visibility = {
    isShown: () => SHOWING_LEVELS.has(log.level),
    readSecrets: () => live.catalog.current.settings.secrets
  }
  const details: { readonly describeCall?: DescribeCall } = facts.isForAuthor !== true
    ? {}
    : {
        describeCall: (await import('../features/audit/call-details.ts')).createCallDetails(visibility)
      }
  const tracing: { readonly tracer?: RequestTracer | undefined } = {
    tracer: await (await import('../features/tracing/tracing.ts')).openRequestTracer(log)
  }
  return { ...tracing, ...details, lifetimes, openStreams, shedding, storePart, metrics, limiter }
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

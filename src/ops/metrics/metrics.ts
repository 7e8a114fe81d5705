// All metrics of one service, in a registry of its own: a process may run several services.

import { collectDefaultMetrics, Counter, Registry } from 'prom-client'
import type { LimitHit } from '../../limits/call-limiter.ts'
import type { Observer } from '../../request/pipeline/observer.ts'
import { createRequestMetrics } from './request-metrics.ts'
import { registerServiceMetrics, type MetricSources } from './service-metrics.ts'

export interface Metrics {
  /** Measures the requests. */
  readonly observer: Observer
  /** Counts a handle that a tool has created. */
  countHandle (): void
  /** Counts a call that a limit has refused. */
  countLimitHit (hit: LimitHit): void
  readonly contentType: string
  /** The metrics in the text format of Prometheus. */
  text (): Promise<string>
}

/** Gauges with the suffix of a counter. The same numbers, by kind, have names without it. */
const MISNAMED = [
  'nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'
]

export function createMetrics (sources: MetricSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  registerServiceMetrics(registry, sources)
  const handles = new Counter({
    name: 'trivet_handles_created_total', help: 'Handles that tools have created.', registers: [registry]
  })
  const limitHits = new Counter({
    name: 'trivet_limit_hits_total',
    help: 'Calls that a limit has refused: of one caller or of all, of every tool or of one.',
    labelNames: ['limit', 'callers', 'tools'],
    registers: [registry]
  })
  return {
    observer: createRequestMetrics(registry),
    countHandle: () => handles.inc(),
    countLimitHit: ({ limit, isOfAll, isOfTool }) => limitHits.inc({
      limit, callers: isOfAll ? 'all' : 'one', tools: isOfTool ? 'one' : 'all'
    }),
    contentType: registry.contentType,
    text: async () => await registry.metrics()
  }
}

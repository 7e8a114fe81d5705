// All metrics of one service, in a registry of its own: a process may run several services.

import { collectDefaultMetrics, Counter, Gauge, Registry, type Aggregator } from 'prom-client'
import type { LimitHit } from '../../platform/limits/call-limiter.ts'
import type { OperatedTasks, ServedTasks } from '../../request/pipeline/served-tasks.ts'
import type { MetricValues } from './added-metrics.ts'
import { createRequestMetrics } from './request-metrics.ts'
import { createUpstreamMetrics } from './upstream-metrics.ts'

interface TaskSource extends Pick<ServedTasks, 'counts'> {
  readonly operator: Pick<OperatedTasks, 'countStuck'>
}

/** Where the values come from. */
interface MetricSources {
  /** The version of the service and of Node. */
  readonly build: { readonly version: string, readonly node: string }
  openStreams (): number
  /** Absent if no request is refused because of overload. */
  readonly shedding: {
    /** How many requests may be served at once. */
    readonly limit: number
    /** How many were refused, by reason. */
    readonly refused: { readonly [reason: string]: number }
  } | undefined
  /** Checks the state store. Never rejects. */
  isStoreReady (): Promise<boolean>
  /** Absent if the service has no tasks. */
  readonly tasks: TaskSource | undefined
  /** Whether changes and messages pass between the replicas. */
  isBroadcastReady (): boolean
  catalog (): CatalogFacts
  /** How many sign-ins of people have ended, by outcome. Absent if nobody signs in here. */
  readonly signIns: (() => { readonly [outcome: string]: number }) | undefined
  /** How many calls run, by upstream. */
  upstreamCalls (): { readonly [upstream: string]: number }
}

interface CatalogFacts {
  readonly version: string
  /** How many primitives it has, by kind. */
  readonly sizes: { readonly [kind: string]: number }
  readonly reloads: {
    readonly succeeded: number
    readonly failed: number
    /** When the catalog that is served was loaded, in milliseconds since the epoch. */
    readonly lastSuccessAt: number
    /** Present if the last reload failed. */
    readonly failure?: unknown
  }
}

/** Gauges with the suffix of a counter. The same numbers, by kind, have names without it. */
const MISNAMED = [
  'nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'
]

export function createMetrics (sources: MetricSources) {
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
    observeUpstreamCall: createUpstreamMetrics(registry),
    observer: createRequestMetrics(registry),
    countHandle: () => handles.inc(),
    countLimitHit: ({ limit, isOfAll, isOfTool }: LimitHit) => limitHits.inc({
      limit, callers: isOfAll ? 'all' : 'one', tools: isOfTool ? 'one' : 'all'
    }),
    contentType: registry.contentType,
    text: async () => await registry.metrics(),
    values: async (): Promise<MetricValues> => await registry.getMetricsAsJSON()
  }
}

/** Registers the state of the service: read when the metrics are read, so that it costs requests nothing. */
function registerServiceMetrics (registry: Registry, sources: MetricSources): void {
  type Read = (gauge: Gauge) => void | Promise<void>
  /** @param aggregator how the values of several workers become one. */
  const gauge = (
    name: string, help: string, labelNames: readonly string[], read: Read, aggregator: Aggregator = 'sum'
  ) => {
    const metric: Gauge = new Gauge({
      name,
      help,
      aggregator,
      labelNames: [...labelNames],
      registers: [registry],
      collect () {
        metric.reset()
        return read(metric)
      }
    })
  }
  const counter = (
    name: string, help: string, label: string, read: () => { readonly [value: string]: number }
  ) => {
    const metric: Counter = new Counter({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect () {
        metric.reset()
        for (const [value, count] of Object.entries(read())) metric.inc({ [label]: value }, count)
      }
    })
  }
  gauge('trivet_build_info', 'Always 1. The labels are the versions.', ['version', 'node', 'catalog_version'],
    (metric) => metric.set({ ...sources.build, catalog_version: sources.catalog().version }, 1), 'first')
  gauge('trivet_open_streams', 'Open streams of every kind.', [],
    (metric) => metric.set(sources.openStreams()))
  const { shedding, signIns, tasks } = sources
  if (shedding !== undefined) {
    gauge('trivet_requests_limit', 'How many requests may be served at once. Falls during overload.', [],
      (metric) => metric.set(shedding.limit))
    counter('trivet_shed_requests_total', 'Requests that were refused because of overload.', 'reason',
      () => shedding.refused)
  }
  if (signIns !== undefined) {
    counter('trivet_sign_ins_total', 'Sign-ins of people that have ended.', 'outcome', signIns)
  }
  // Checked for each reading: no probe may ask for readiness.
  gauge('trivet_state_store_ready', 'Whether the state store took a write when the metrics were read.', [],
    async (metric) => metric.set(Number(await sources.isStoreReady())), 'min')
  gauge('trivet_broadcast_ready', 'Whether changes and messages pass between this replica and others.', [],
    (metric) => metric.set(Number(sources.isBroadcastReady())), 'min')
  if (tasks !== undefined) {
    counter('trivet_tasks_left_total', 'Tasks left to replicas that can run them.', 'reason',
      () => tasks.counts.left)
    counter('trivet_undos_total', 'Ended tasks whose work was undone, or could not be.', 'outcome',
      () => tasks.counts.undos)
    counter('trivet_task_losses_total', 'Tasks whose replica was lost, by the losses in a row.', 'in_a_row',
      () => tasks.counts.losses)
    gauge('trivet_tasks_running', 'Tasks whose handler runs on this replica.', [],
      (metric) => metric.set(tasks.counts.running))
    // Every replica reports the count of all replicas. It reads the first due entries, and no record.
    gauge('trivet_tasks_stuck', 'Tasks that are due, and that no replica has run for two leases.', ['reason'],
      async (metric) => {
        const stuck = await tasks.operator.countStuck().catch(() => ({}))
        for (const [reason, count] of Object.entries(stuck)) metric.set({ reason }, Number(count))
      }, 'max')
  }
  gauge('trivet_upstream_calls_running', 'Calls of upstreams that run.', ['upstream'], (metric) => {
    for (const [upstream, count] of Object.entries(sources.upstreamCalls())) metric.set({ upstream }, count)
  })
  gauge('trivet_catalog_primitives', 'Tools, prompts, resources, templates and skills.', ['kind'],
    (metric) => {
      for (const [kind, size] of Object.entries(sources.catalog().sizes)) metric.set({ kind }, size)
    }, 'max')
  gauge('trivet_catalog_last_reload_successful', 'Whether the last reload of the catalog succeeded.', [],
    (metric) => metric.set(sources.catalog().reloads.failure === undefined ? 1 : 0), 'min')
  gauge('trivet_catalog_last_reload_success_timestamp_seconds', 'When the served catalog was loaded.', [],
    (metric) => metric.set(sources.catalog().reloads.lastSuccessAt / 1000), 'min')
  counter('trivet_catalog_reloads_total', 'Reloads of the catalog, after the first load.', 'result', () => {
    const { succeeded, failed } = sources.catalog().reloads
    return { success: succeeded, failure: failed }
  })
}

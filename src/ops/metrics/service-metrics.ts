// The state of the service: read when the metrics are read, so that it costs requests nothing.

import { Counter, Gauge, type Registry } from 'prom-client'

/** Where the values come from. */
export interface MetricSources {
  /** The version of the service and of Node. */
  readonly build: { readonly version: string, readonly node: string }
  openStreams (): number
  readonly shedding: {
    /** How many requests may be served at once. */
    readonly limit: number
    /** How many were refused, by reason. */
    readonly refused: { readonly [reason: string]: number }
  }
  /** The result of the last check of the state store. `undefined` before the first one. */
  isStoreReady (): boolean | undefined
  /** Whether changes and messages pass between the replicas. */
  isBroadcastReady (): boolean
  catalog (): CatalogFacts
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

export function registerServiceMetrics (registry: Registry, sources: MetricSources): void {
  const gauge = (name: string, help: string, labelNames: readonly string[], read: (gauge: Gauge) => void) => {
    const metric: Gauge = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect () {
        metric.reset()
        read(metric)
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
    (metric) => metric.set({ ...sources.build, catalog_version: sources.catalog().version }, 1))
  gauge('trivet_open_streams', 'Open streams of every kind.', [],
    (metric) => metric.set(sources.openStreams()))
  gauge('trivet_requests_limit', 'How many requests may be served at once. Falls during overload.', [],
    (metric) => metric.set(sources.shedding.limit))
  counter('trivet_shed_requests_total', 'Requests that were refused because of overload.', 'reason',
    () => sources.shedding.refused)
  gauge('trivet_state_store_ready', 'Whether the last check by /readyz reached the state store.', [],
    (metric) => {
      const isReady = sources.isStoreReady()
      // No value is better than a wrong one: nobody has asked yet.
      if (isReady === undefined) metric.remove()
      else metric.set(Number(isReady))
    })
  gauge('trivet_broadcast_ready', 'Whether changes and messages pass between this replica and others.', [],
    (metric) => metric.set(Number(sources.isBroadcastReady())))
  gauge('trivet_catalog_primitives', 'Tools, prompts, resources, templates and skills.', ['kind'],
    (metric) => {
      for (const [kind, size] of Object.entries(sources.catalog().sizes)) metric.set({ kind }, size)
    })
  gauge('trivet_catalog_last_reload_successful', 'Whether the last reload of the catalog succeeded.', [],
    (metric) => metric.set(sources.catalog().reloads.failure === undefined ? 1 : 0))
  gauge('trivet_catalog_last_reload_success_timestamp_seconds', 'When the served catalog was loaded.', [],
    (metric) => metric.set(sources.catalog().reloads.lastSuccessAt / 1000))
  counter('trivet_catalog_reloads_total', 'Reloads of the catalog, after the first load.', 'result', () => {
    const { succeeded, failed } = sources.catalog().reloads
    return { success: succeeded, failure: failed }
  })
}

// The state of the service: read when the metrics are read, so that it costs requests nothing.

import { Counter, Gauge, type Registry } from 'prom-client'

/** Where the values come from. */
export interface MetricSources {
  /** The version of the service and of Node. */
  readonly build: { readonly version: string, readonly node: string }
  openStreams (): number
  /** The result of the last check of the state store. `undefined` before the first one. */
  isStoreReady (): boolean | undefined
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
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect () {
        made.reset()
        read(made)
      }
    })
  }
  gauge('trivet_build_info', 'Always 1. The labels are the versions.', ['version', 'node', 'catalog_version'],
    (made) => made.set({ ...sources.build, catalog_version: sources.catalog().version }, 1))
  gauge('trivet_open_streams', 'Open streams of every kind.', [], (made) => made.set(sources.openStreams()))
  gauge('trivet_state_store_ready', 'Whether the last check by /readyz reached the state store.', [],
    (made) => {
      const isReady = sources.isStoreReady()
      // No value is better than a wrong one: nobody has asked yet.
      if (isReady === undefined) made.remove()
      else made.set(Number(isReady))
    })
  gauge('trivet_catalog_primitives', 'Tools, prompts, resources and templates that are served.', ['kind'],
    (made) => {
      for (const [kind, size] of Object.entries(sources.catalog().sizes)) made.set({ kind }, size)
    })
  gauge('trivet_catalog_last_reload_successful', 'Whether the last reload of the catalog succeeded.', [],
    (made) => made.set(sources.catalog().reloads.failure === undefined ? 1 : 0))
  gauge('trivet_catalog_last_reload_success_timestamp_seconds', 'When the served catalog was loaded.', [],
    (made) => made.set(sources.catalog().reloads.lastSuccessAt / 1000))
  const reloads: Counter = new Counter({
    name: 'trivet_catalog_reloads_total',
    help: 'Reloads of the catalog, after the first load.',
    labelNames: ['result'],
    registers: [registry],
    collect () {
      const { succeeded, failed } = sources.catalog().reloads
      reloads.reset()
      reloads.inc({ result: 'success' }, succeeded)
      reloads.inc({ result: 'failure' }, failed)
    }
  })
}

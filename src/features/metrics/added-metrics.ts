// Adds up the metrics of several workers.

import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'

/** The metrics of one worker. They can be sent as JSON. */
export type MetricValues = ReadonlyArray<MetricObjectWithValues<MetricValue<string>>>

/** The metrics that only grow, until their process ends. */
const GROWING = ['counter', 'histogram']

interface AddedSources {
  /** How many workers serve. */
  countReady (): number
  /** How many workers have ended and made room for others. */
  countReplaced (): number
}

export interface AddedMetrics {
  /** Takes a report of a worker that has not ended. The last one counts until the next one. */
  note (worker: number, values: MetricValues): void
  /** Returns the sum in the text format of Prometheus. Each gauge says how its values become one. */
  add (): Promise<string>
  /** Keeps the counts of a worker that has ended: without them a sum would fall. */
  keep (worker: number): void
}

export function createAddedMetrics ({ countReady, countReplaced }: AddedSources): AddedMetrics {
  const registry = new Registry()
  const ready: Gauge = new Gauge({
    name: 'trivet_workers_ready',
    help: 'Workers that serve.',
    registers: [registry],
    collect: () => ready.set(countReady())
  })
  const replaced: Counter = new Counter({
    name: 'trivet_workers_replaced_total',
    help: 'Workers that ended and made room for others.',
    registers: [registry],
    collect () {
      replaced.reset()
      replaced.inc(countReplaced())
    }
  })
  const last = new Map<number, MetricValues>()
  let keeping: Promise<MetricValues> = Promise.resolve([])

  return {
    note (worker, values) { last.set(worker, values) },
    async add () {
      const ownValues = await registry.getMetricsAsJSON()
      for (;;) {
        const pending = keeping
        const sums = await pending
        // In the same turn as the check: a worker that ends passes from the last reports to what is kept.
        if (pending === keeping) return await aggregate([...last.values(), sums, ownValues]).metrics()
      }
    },
    keep (worker) {
      const values = (last.get(worker) ?? []).filter(({ type }) => GROWING.includes(String(type)))
      last.delete(worker)
      keeping = keeping.then(async (sums) => await aggregate([sums, values]).getMetricsAsJSON())
    }
  }
}

function aggregate (values: readonly MetricValues[]): Registry {
  return AggregatorRegistry.aggregate(values.map((list) => [...list]))
}

// Measures the calls of upstreams. Their names come from the catalog.

import { Counter, Histogram, type Registry } from 'prom-client'

/** In seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function createUpstreamMetrics (
  registry: Registry
): (upstream: string, outcome: string, seconds: number) => void {
  const calls = new Counter({
    name: 'trivet_upstream_calls_total',
    help: 'Calls of upstreams, by how they ended.',
    labelNames: ['upstream', 'outcome'],
    registers: [registry]
  })
  const durations = new Histogram({
    name: 'trivet_upstream_call_duration_seconds',
    help: 'Time of a call of an upstream, with its attempts and its body.',
    labelNames: ['upstream'],
    buckets: BUCKETS,
    registers: [registry]
  })
  return (upstream, outcome, seconds) => {
    calls.inc({ upstream, outcome })
    durations.observe({ upstream }, seconds)
  }
}

import t from 'tap'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import {
  createAddedMetrics, type AddedMetrics, type MetricValues
} from '../../../src/features/metrics/added-metrics.ts'
import { linesOf } from '../../helpers/admin.ts'

async function measure (calls: number, ready: number): Promise<MetricValues> {
  const registers = [new Registry()]
  const counter = new Counter({ name: 'calls_total', help: 'Calls.', labelNames: ['tool'], registers })
  counter.inc({ tool: 'a' }, calls)
  new Gauge({ name: 'open', help: 'Open.', registers }).set(calls)
  new Gauge({ name: 'store_ready', help: 'Ready.', aggregator: 'min', registers }).set(ready)
  new Histogram({ name: 'seconds', help: 'Seconds.', buckets: [1, 2], registers }).observe(calls)
  // As it comes from another process.
  return JSON.parse(JSON.stringify(await registers[0]?.getMetricsAsJSON()))
}

/** Notes what some workers report, and returns the sum of all. */
async function addReports (
  metrics: AddedMetrics, reports: { readonly [worker: number]: MetricValues }
): Promise<string> {
  for (const [worker, values] of Object.entries(reports)) metrics.note(Number(worker), values)
  return await metrics.add()
}

t.test('adds up what workers report, each gauge in its own way', async (t) => {
  const metrics = createAddedMetrics({ countReady: () => 2, countReplaced: () => 1 })
  const text = await addReports(metrics, { 1: await measure(1, 1), 2: await measure(2, 0) })
  t.strictSame(linesOf(text, 'calls_total'), ['calls_total{tool="a"} 3'])
  t.strictSame(linesOf(text, 'open'), ['open 3'])
  t.strictSame(linesOf(text, 'store_ready'), ['store_ready 0'])
  t.strictSame(linesOf(text, 'seconds_bucket'), [
    'seconds_bucket{le="1"} 1', 'seconds_bucket{le="2"} 2', 'seconds_bucket{le="+Inf"} 2'
  ])
  t.strictSame(linesOf(text, 'seconds_sum'), ['seconds_sum 3'])
  t.strictSame(linesOf(text, 'trivet_workers_ready'), ['trivet_workers_ready 2'])
  t.strictSame(linesOf(text, 'trivet_workers_replaced_total'), ['trivet_workers_replaced_total 1'])
})

t.test('a sum of counts never falls: those of ended and of silent workers stay', async (t) => {
  const metrics = createAddedMetrics({ countReady: () => 2, countReplaced: () => 0 })
  const calls = async (reports: { readonly [worker: number]: MetricValues }) => {
    const text = await addReports(metrics, reports)
    return [...linesOf(text, 'calls_total'), ...linesOf(text, 'open'), ...linesOf(text, 'seconds_count')]
  }
  await calls({ 1: await measure(5, 1), 2: await measure(7, 1) })
  t.strictSame(await calls({ 2: await measure(8, 1) }), [
    'calls_total{tool="a"} 13', 'open 13', 'seconds_count 2'
  ], 'worker 1 was silent')
  metrics.keep(1)
  t.strictSame(await calls({ 2: await measure(8, 1) }), [
    'calls_total{tool="a"} 13', 'open 8', 'seconds_count 2'
  ], 'worker 1 has ended')
  metrics.keep(2)
  t.strictSame(await calls({ 1: await measure(1, 1), 2: await measure(2, 1) }), [
    'calls_total{tool="a"} 16', 'open 3', 'seconds_count 4'
  ], 'both have come again')
})

t.test('a worker that ends while a sum is made counts once', async (t) => {
  const metrics = createAddedMetrics({ countReady: () => 2, countReplaced: () => 0 })
  metrics.note(1, await measure(5, 1))
  metrics.note(2, await measure(7, 1))
  // Ends in each turn of the sum once.
  for (let turns = 0; turns < 12; turns++) {
    const sum = metrics.add()
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    metrics.keep(1)
    t.strictSame(linesOf(await sum, 'calls_total'), [`calls_total{tool="a"} ${12 + turns}`])
    metrics.note(1, await measure(1, 1))
  }
})

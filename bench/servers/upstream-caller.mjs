// Calls a service with `ctx.fetch` and with the fetch of undici, in turns. Prints the CPU time of the process
// for each call, in microseconds, as JSON.
//
//   node upstream-caller.mjs MAIN URL CALLS LAPS

import { fetch as undiciFetch, Pool } from 'undici'
import { importInner } from '../state/inner-modules.mjs'

const [main, url, calls, laps] = process.argv.slice(2)
const IN_FLIGHT = 10
const PRINCIPAL = { subject: 'ada', issuer: 'https://issuer', scopes: new Set() }

const fetchOfTrivet = await openTrivet()
const pool = new Pool(url, { connections: 50 })
const CALLERS = {
  trivet: fetchOfTrivet,
  undici: async (path) => await (await undiciFetch(`${url}/${path}`, { dispatcher: pool })).json()
}

const figures = {}
for (const path of ['small', 'large']) {
  const count = path === 'small' ? Number(calls) : Number(calls) / 5
  for (const call of Object.values(CALLERS)) await measure(call, path, count)
  const turns = { trivet: [], undici: [] }
  for (let lap = 0; lap < Number(laps); lap++) {
    const names = Object.keys(CALLERS)
    for (const name of lap % 2 === 0 ? names : names.toReversed()) {
      turns[name].push(await measure(CALLERS[name], path, count))
    }
  }
  figures[path] = turns
}
console.log(JSON.stringify(figures))
process.exit()

async function measure (call, path, count) {
  let left = count
  const begin = process.cpuUsage()
  await Promise.all(Array.from({ length: IN_FLIGHT }, async () => {
    while (left-- > 0) {
      const { text } = await call(path)
      if (text.length < 900) throw new Error('another answer came')
    }
  }))
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / count
}

/** What `ctx.fetch` runs, with metrics, and with the facts that a request begins for its calls. */
async function openTrivet () {
  const inner = async (path) => await importInner(main, path)
  const { defineUpstream } = await inner('platform/author/define-upstream')
  const { compileUpstream } = await inner('features/upstreams/definition/compile-upstream')
  const { createUpstreams } = await inner('features/upstreams/upstreams')
  const { UpstreamCalls } = await inner('request/pipeline/upstream-calls')
  const { Lifetime } = await inner('request/pipeline/lifetime')
  const { createUpstreamMetrics } = await inner('features/metrics/upstream-metrics')
  const { Registry } = await import('prom-client')
  const definition = defineUpstream({
    name: 'bench', url, allowPrivate: true, auth: { type: 'secret', header: 'x-key', value: 'k' }
  })
  const settings = { values: new Map(), secrets: new Map(), isComplete: true }
  const fail = (place, rule) => { throw new Error(`${place}: ${rule}`) }
  const compiled = compileUpstream(definition, settings, fail)
  const log = { debug () {}, warn () {} }
  const credentials = { log, facts: { modes: [], issuers: [] }, own: {} }
  const upstreams = createUpstreams({ log, workerCount: 1, credentials })
  upstreams.onCall = createUpstreamMetrics(new Registry())
  const upstream = await upstreams.open(compiled)
  return async (path) => {
    const lifetime = new Lifetime()
    const observed = { startedAt: performance.now(), trace: undefined, upstreams: undefined }
    const caller = new UpstreamCalls({ caller: { principal: PRINCIPAL }, lifetime, log, observed })
    try {
      return await (await upstream.fetch(caller, path)).json()
    } finally {
      lifetime.end()
    }
  }
}

// Measures the first second of load of a fresh process, for each method: V8 has compiled little of the code,
// and no cache is filled. A peer of an earlier revision has opened its sessions before.

import { createCollection } from '../figures/collection.mjs'
import { grouped, printServers, rounded, spreadText } from '../figures/table.mjs'
import { takeLap } from '../load/rounds.mjs'
import { saturate } from '../load/saturate.mjs'
import { ringsFor, servesMethod } from '../load/targets.mjs'
import { toFigures } from '../load/turns.mjs'
import { createRings } from '../requests/rings.mjs'
import { prepareCatalog } from '../servers/prepare-catalog.mjs'
import { withStarted } from '../servers/started.mjs'

const TOOLS = 50
const SECONDS = 1
/** The first answers, whose CPU time a row has too: how many come in a second depends on the machine. */
const FIRST = 1000

export const name = 'first'
export const about = 'each method in the first second of load of a fresh process: answers, CPU and latency'

export async function run (options, show) {
  const listed = await prepareCatalog(options, TOOLS, options.servers)
  const rows = []
  for (const method of options.methods) {
    const requests = { method, toolCount: TOOLS, ids: options.ids }
    const turns = createCollection(listed)
    for (let start = 0; start < options.starts; start++) {
      await measureStart(requests, { listed, turns, start })
    }
    const row = { method, ids: options.ids, ...turns.summary() }
    rows.push(row)
    show([row])
  }
  return rows
}

/** Only one server runs at a time. */
async function measureStart (requests, { listed, turns, start }) {
  const shared = createRings(requests)
  const ready = []
  const figures = []
  for (let turn = 0; turn < listed.length; turn++) {
    const contender = listed[(turn + start) % listed.length]
    if (!servesMethod(contender, requests.method)) continue
    await withStarted([contender], async ([started], leftOut) => {
      for (const one of leftOut) turns.leaveOut(one)
      if (started === undefined) return
      const { server } = started
      const rings = await ringsFor(started, requests, shared)
      const once = () => loadFirst({ url: server.url, rings }, server)
      const taken = await takeLap([started], 0, once, async () => false)
      const load = taken.get(started)
      ready.push(started)
      figures.push([{ ...toFigures(load), firstCpuUs: load.firstCpuUs }])
    })
  }
  turns.addStart(ready, figures)
}

/** Loads the server for a second, with a short pause after the first answers. */
async function loadFirst (target, server) {
  const before = await server.usage()
  const first = await saturate(target, { seconds: SECONDS, answers: FIRST })
  const after = await server.usage()
  const firstCpuUs = (after.cpuMs - before.cpuMs) * 1000 / first.latencies.length
  const seconds = SECONDS - first.elapsedMs / 1000
  if (seconds <= 0) return { ...first, firstCpuUs }
  const { latencies, elapsedMs, busyMs } = await saturate(target, { seconds })
  return {
    latencies: first.latencies.concat(latencies),
    elapsedMs: first.elapsedMs + elapsedMs,
    busyMs: first.busyMs + busyMs,
    firstCpuUs
  }
}

export function print (rows) {
  for (const { method, servers } of rows) {
    printServers(`${method} in the first second of load of a fresh process, ${TOOLS} tools`, servers, [
      ['answers', ({ perSecond }) => spreadText(perSecond, grouped)],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.perSecond)],
      ['CPU µs', ({ cpuUs }) => spreadText(cpuUs)],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.cpuUs)],
      [`CPU µs of the first ${grouped(FIRST)}`, ({ firstCpuUs }) => spreadText(firstCpuUs)],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.firstCpuUs)],
      ['p50 ms', ({ p50Ms }) => rounded(p50Ms.median)],
      ['p99 ms', ({ p99Ms }) => spreadText(p99Ms)]
    ])
  }
}

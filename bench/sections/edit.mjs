// Measures one edited file of a large catalog: the CPU time of the edit, and the longest stall of the
// service, in wall time and in CPU time of its own thread.

import { setTimeout as sleep } from 'node:timers/promises'
import { changeTool, writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, printServers, spreadText } from '../figures/table.mjs'
import { interleave } from '../load/rounds.mjs'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 5000
/** The process is quiet when it has used less CPU time than this in each of several looks in a row. */
const QUIET_MS = 10
const QUIET_LOOKS = 6
const LOOK_EVERY_MS = 250
const LEAST_LOOKS = 12

export const name = 'edit'
export const about = `CPU time and the longest stall of one edited file among ${TOOLS} tools`

export async function run (options, show) {
  const builds = []
  for (const build of listBuilds(options, {}).keys()) {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, TOOLS)
    builds.push({ ...listBuilds(options, { catalog, toolCount: TOOLS })[build], catalog })
  }
  return withStarted(builds, async (started) => {
    for (const { server } of started) await untilQuiet(server)
    const rounds = Math.min(options.rounds, options.coldStarts)
    const figures = await interleave(started, { ...options, rounds }, editOnce)
    const servers = summarise(started, figures, { ofTrivet: ({ trivet }) => trivet })
    show({ tools: TOOLS, servers })
    return { tools: TOOLS, servers }
  })
}

async function editOnce ({ server, catalog }, round) {
  await untilQuiet(server)
  await server.watch()
  const description = `Edit ${round} of the benchmark.`
  await changeTool(catalog, 0, description)
  await untilQuiet(server)
  const { longestStallMs, longestStallCpuMs, peakBytes } = await server.stopWatching()
  const { tools } = await ask(server.url, modernRequest('tools/list', {}))
  if (tools[0].description !== description) throw new Error(`${server.url} has not loaded an edit`)
  return { longestStallMs, longestStallCpuMs, peakMiB: peakBytes / 2 ** 20 }
}

async function untilQuiet (server) {
  let { cpuMs } = await server.usage()
  let quiet = 0
  for (let looks = 0; quiet < QUIET_LOOKS || looks < LEAST_LOOKS; looks++) {
    await sleep(LOOK_EVERY_MS)
    const now = await server.usage()
    quiet = now.cpuMs - cpuMs < QUIET_MS ? quiet + 1 : 0
    cpuMs = now.cpuMs
  }
}

export function print ({ tools, servers }) {
  printServers(`One edited file among ${grouped(tools)} tools, no load`, servers, [
    ['CPU ms', ({ cpuMs }) => spreadText(cpuMs)],
    ['of Trivet', ({ ofTrivet }) => spreadText(ofTrivet?.cpuMs)],
    ['longest stall ms', ({ longestStallMs }) => spreadText(longestStallMs)],
    ['longest in own CPU ms', ({ longestStallCpuMs }) => spreadText(longestStallCpuMs)],
    ['most memory MiB', ({ peakMiB }) => spreadText(peakMiB)]
  ])
}

export function yardsticks ({ tools, servers }) {
  return servers.filter(({ name }) => name === TRIVET).map(({ node, longestStallCpuMs }) => ({
    name: `longest stall of an edit among ${grouped(tools)} tools, own CPU ms, Node ${node}`,
    atMost: 25,
    figure: longestStallCpuMs.median
  }))
}

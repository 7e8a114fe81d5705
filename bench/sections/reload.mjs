// Measures edits under load: the latency of requests at a fixed rate while one file of the catalog is edited
// every second.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { startEditing, untilLoaded } from '../catalog/edits.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, spreadText } from '../figures/table.mjs'
import { pace } from '../load/pace.mjs'
import { interleave } from '../load/rounds.mjs'
import { createRings, forServer } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 500
const KINDS = ['no edits', 'edits']

export const name = 'reload'
export const about = `latency and stalls with ${TOOLS} tools while one file a second is edited`

export async function run (options, show) {
  const builds = []
  for (const build of listBuilds(options, {})) {
    // Each build has its own folder, so that an edit affects only one server.
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, TOOLS)
    builds.push(...listBuilds(options, { catalog, toolCount: TOOLS })
      .filter(({ name, node }) => name === build.name && node === build.node)
      .map((one) => ({ ...one, catalog })))
  }
  return withStarted(builds, async (started) => {
    const contenders = started.flatMap((build) => KINDS.map((kind) => (
      { ...build, name: `${build.name}, ${kind}`, build: build.name, edits: kind === 'edits' }
    )))
    const shared = createRings({ method: 'tools/call', toolCount: TOOLS, ids: options.ids })
    for (const contender of contenders) contender.rings = forServer(shared)
    const rate = { perSecond: options.rate, seconds: options.editSeconds }
    const measure = (contender) => measureOnce(contender, rate)
    for (const contender of contenders) await measure(contender)
    const rounds = Math.ceil(options.rounds / 2)
    const figures = await interleave(contenders, { ...options, rounds }, measure)
    const references = { ofQuiet: ({ build }) => `${build}, ${KINDS[0]}` }
    const result = { tools: TOOLS, rate: options.rate, servers: summarise(contenders, figures, references) }
    show(result)
    return result
  })
}

async function measureOnce ({ server, rings, catalog, edits }, rate) {
  await server.watch()
  const stopEditing = edits ? startEditing(catalog, TOOLS) : async () => {}
  const { clientBusy, ...latencies } = await pace({ url: server.url, rings }, rate)
  const last = await stopEditing()
  const { longestStallMs } = await server.stopWatching()
  if (last !== undefined) await untilLoaded(server.url, last)
  return { ...latencies, longestStallMs }
}

export function print ({ tools, rate, servers }) {
  const title = `One edit a second, ${tools} tools, tools/call at ${rate} requests per second, in ms`
  printServers(title, servers, [
    ['p50', ({ p50Ms }) => spreadText(p50Ms)],
    ['p99', ({ p99Ms }) => spreadText(p99Ms)],
    ['of no edits', ({ ofQuiet }) => spreadText(ofQuiet.p99Ms)],
    ['p99.9', ({ p999Ms }) => spreadText(p999Ms)],
    ['worst', ({ worstMs }) => spreadText(worstMs)],
    ['not sent', ({ unsent }) => unsent.median === 0 ? '' : `${Math.round(unsent.median * 100)} %`],
    ['longest stall', ({ longestStallMs }) => spreadText(longestStallMs)],
    ['CPU ms', ({ cpuMs }) => spreadText(cpuMs)]
  ])
}

export function yardsticks ({ servers }) {
  return servers.filter(({ name }) => name === `${TRIVET}, edits`).map(({ node, ofQuiet }) => ({
    name: `p99 with an edit a second, of that without, Node ${node}`,
    atMost: 2,
    figure: ofQuiet.p99Ms.median
  }))
}

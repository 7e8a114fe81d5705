// Edits under load: what requests at a fixed rate wait while a file of the catalog is changed once a second.

import { setTimeout as sleep } from 'node:timers/promises'
import { changeTool, writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, spreadText } from '../figures/table.mjs'
import { pace } from '../load/pace.mjs'
import { interleave } from '../load/rounds.mjs'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { createRings, forServer } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 500
const BETWEEN_EDITS_MS = 1000
const RELOAD_TIMEOUT_MS = 30_000
const KINDS = ['no edits', 'edits']

export const name = 'reload'
export const about = `latency and stalls with ${TOOLS} tools while one file a second is edited`

export async function run (options, show) {
  const builds = []
  for (const build of listBuilds(options, {})) {
    // A folder for each: an edit is one server's alone.
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
  const stopEditing = edits ? startEditing(catalog) : async () => {}
  const { p50Ms, p99Ms, p999Ms, worstMs } = await pace({ url: server.url, rings }, rate)
  const last = await stopEditing()
  const { longestStallMs } = await server.stopWatching()
  if (last !== undefined) await untilLoaded(server.url, last)
  return { p50Ms, p99Ms, p999Ms, worstMs, longestStallMs }
}

let edit = 0

/** @returns what ends it, and resolves with the edit that was made last */
function startEditing (catalog) {
  let last
  let editing = Promise.resolve()
  const timer = setInterval(() => {
    edit++
    last = { index: edit * 7 % TOOLS, description: `Edit ${edit} of the benchmark.` }
    editing = editing.then(() => changeTool(catalog, last.index, last.description))
  }, BETWEEN_EDITS_MS)
  return async () => {
    clearInterval(timer)
    await editing
    return last
  }
}

/** An edit that never arrives would make a good figure. */
async function untilLoaded (url, { index, description }) {
  const startedAt = performance.now()
  while (true) {
    const { tools } = await ask(url, modernRequest('tools/list', {}))
    if (tools[index].description === description) return
    if (performance.now() - startedAt > RELOAD_TIMEOUT_MS) throw new Error(`${url} has not loaded an edit`)
    await sleep(100)
  }
}

export function print ({ tools, rate, servers }) {
  const title = `One edit a second, ${tools} tools, tools/call at ${rate} requests per second, in ms`
  printServers(title, servers, [
    ['p50', ({ p50Ms }) => spreadText(p50Ms)],
    ['p99', ({ p99Ms }) => spreadText(p99Ms)],
    ['of no edits', ({ ofQuiet }) => spreadText(ofQuiet.p99Ms)],
    ['p99.9', ({ p999Ms }) => spreadText(p999Ms)],
    ['worst', ({ worstMs }) => spreadText(worstMs)],
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

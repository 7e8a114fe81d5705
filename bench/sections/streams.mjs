// Measures open streams: the memory of each stream, and how fast one change reaches all streams.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, printServers, spreadText } from '../figures/table.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { HAS_PROC, residentBytes } from '../servers/process-figures.mjs'
import { startServer } from '../servers/server-process.mjs'
import { arrival, describeAnew, holding, NOTIFICATIONS, recordStream } from '../streams/list-changes.mjs'
import { SETTLE_MS, WARM_UP_STREAMS } from '../streams/stream-client.mjs'
import { workspacePath } from '../workspace.mjs'

const STREAMS = 2000
const TOOLS = 50
const BARE = 'bare node:http'
const BARE_FILE = fileURLToPath(new URL('../servers/bare-streams.mjs', import.meta.url))

export const name = 'streams'
export const about = `memory of ${STREAMS} open streams, and the time of one change to all of them`

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const answersFile = await recordStream(options.main, catalog)
  const env = { BENCH_ANSWERS: answersFile }
  const bare = ({ path }) => () => startServer({ node: path, file: BARE_FILE, env })
  const builds = listBuilds(options, { catalog, toolCount: TOOLS })
  const contenders = [
    ...options.nodes.map((node) => (
      { name: BARE, node: node.version, start: bare(node), change: notifyAll }
    )),
    ...builds.map((build) => ({ ...build, change: () => describeAnew(catalog) }))
  ]
  const figures = contenders.map(() => [])
  for (let round = 0; round < options.streamRounds; round++) {
    for (const [index, contender] of contenders.entries()) figures[index].push(await measureOnce(contender))
  }
  const result = { streams: STREAMS, servers: summarise(contenders, figures, { ofBare: () => BARE }) }
  show(result)
  return result
}

/** Starts a new process in each round, so that the memory of one round does not affect another. */
async function measureOnce ({ start, change }) {
  return holding(start, async (server, client) => {
    const resident = async () => HAS_PROC ? await residentBytes(server.pid) : NaN
    await client.open(server.url, WARM_UP_STREAMS, NOTIFICATIONS)
    await client.close()
    await sleep(SETTLE_MS)
    const before = await resident()
    await client.open(server.url, STREAMS, NOTIFICATIONS)
    await sleep(SETTLE_MS)
    const kibEach = (await resident() - before) / STREAMS / 1024
    await arrival(client, () => change(server.url))
    await server.watch()
    const { times } = await arrival(client, () => change(server.url))
    const { longestStallMs, longestStallCpuMs } = await server.stopWatching()
    client.check()
    return { kibEach, fanOutMs: times.at(-1) - times[0], longestStallMs, longestStallCpuMs }
  })
}

function notifyAll (url) {
  return fetch(new URL('/notify', url), { method: 'POST' })
}

export function print ({ streams, servers }) {
  printServers(`${grouped(streams)} open streams`, servers, [
    ['KiB each', ({ kibEach }) => spreadText(kibEach)],
    ['of bare', ({ ofBare }) => spreadText(ofBare.kibEach)],
    ['one change to all, ms', ({ fanOutMs }) => spreadText(fanOutMs)],
    ['of bare', ({ ofBare }) => spreadText(ofBare.fanOutMs)],
    ['longest stall ms', ({ longestStallMs }) => spreadText(longestStallMs)],
    ['of own CPU', ({ longestStallCpuMs }) => spreadText(longestStallCpuMs)]
  ])
}

export function yardsticks ({ streams, servers }) {
  return servers.filter(({ name }) => name === TRIVET).flatMap(({ node, ofBare, longestStallCpuMs }) => [
    { name: `memory of a stream, of ${BARE}'s, Node ${node}`, atMost: 1.5, figure: ofBare.kibEach.median },
    {
      name: `one change to ${grouped(streams)} streams, of ${BARE}'s time, Node ${node}`,
      atMost: 2,
      figure: ofBare.fanOutMs.median
    },
    {
      name: `longest stall of one change to ${grouped(streams)} streams, ms of own CPU, Node ${node}`,
      atMost: 25,
      figure: longestStallCpuMs.median
    }
  ])
}

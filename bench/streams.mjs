// Open streams: what each costs in memory, and how fast one change reaches all of them.

import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { changeTool, writeCatalog } from './catalog.mjs'
import { startBareStreams, startTrivet } from './peers.mjs'
import { HAS_PROC, residentBytes } from './process-figures.mjs'
import { median, medianRatio } from './stats.mjs'
import { arrivals, SETTLE_MS, startStreamClient, WARM_UP_STREAMS } from './stream-client.mjs'
import { workspacePath } from './workspace.mjs'

const STREAMS = 2000
const TOOLS = 50
const NOTIFICATIONS = { toolsListChanged: true }

/**
 * @param {{ main: string, streamRounds: number }} options
 */
export async function benchStreams ({ main, streamRounds }) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const answersFile = await recordStream(main, catalog)
  const contenders = [
    { name: 'bare node:http', start: () => startBareStreams(answersFile), change: (url) => fetch(new URL('/notify', url), { method: 'POST' }) },
    { name: 'Trivet', start: () => startTrivet(main, catalog, { watch: true }), change: () => describeAnew(catalog) }
  ]
  return {
    streams: STREAMS,
    memory: HAS_PROC ? await benchMemory(contenders, streamRounds) : undefined,
    fanOut: await benchFanOut(contenders, Math.max(streamRounds, 5))
  }
}

let changes = 0
function describeAnew (catalog) {
  return changeTool(catalog, `Searches collection 0, change no. ${++changes}.`)
}

async function arrival (client, change) {
  const { arrived: [all] } = await arrivals([client], 'notifications/tools/list_changed', change)
  return all
}

/** Records what Trivet writes to a stream, for the bare peer to write the same. */
async function recordStream (main, catalog) {
  return holding(() => startTrivet(main, catalog, { watch: true }), async (server, client) => {
    const acknowledgement = await client.open(server.url, 1, NOTIFICATIONS)
    const { frame } = await arrival(client, () => describeAnew(catalog))
    const file = workspacePath('answers.json')
    await writeFile(file, JSON.stringify({ 'subscriptions/listen': acknowledgement, notification: frame }))
    return file
  })
}

/** Fresh processes in every round, so that none inherits what another round has left in memory. */
async function benchMemory (contenders, rounds) {
  return alternate(contenders, rounds, ({ start }) => holding(start, async (server, client) => {
    await client.open(server.url, WARM_UP_STREAMS, NOTIFICATIONS)
    await client.close()
    await sleep(SETTLE_MS)
    const before = await residentBytes(server.pid)
    await client.open(server.url, STREAMS, NOTIFICATIONS)
    await sleep(SETTLE_MS)
    const growth = await residentBytes(server.pid) - before
    client.check()
    return growth / STREAMS
  }))
}

async function benchFanOut (contenders, rounds) {
  const [bare, trivet] = contenders
  return holding(bare.start, (bareServer, bareClient) => holding(trivet.start, async (trivetServer, trivetClient) => {
    const sides = [
      { ...bare, server: bareServer, client: bareClient },
      { ...trivet, server: trivetServer, client: trivetClient }
    ]
    const reach = async ({ server, client, change }) => {
      const { times } = await arrival(client, () => change(server.url))
      return times.at(-1) - times[0]
    }
    for (const side of sides) {
      await side.client.open(side.server.url, STREAMS, NOTIFICATIONS)
      await reach(side)
    }
    return alternate(sides, rounds, reach)
  }))
}

/** @returns figures of both contenders, and the median of the ratios of the second to the first */
async function alternate (contenders, rounds, measure) {
  const figures = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) figures[index].push(await measure(contender))
  }
  const [bare, trivet] = figures
  return {
    median: Object.fromEntries(contenders.map(({ name }, index) => [name, median(figures[index])])),
    ratio: medianRatio(trivet, bare),
    rounds: Object.fromEntries(contenders.map(({ name }, index) => [name, figures[index]]))
  }
}

/** Does `work` with a server and a client of its own, and ends both. */
async function holding (start, work) {
  const server = await start()
  const client = startStreamClient()
  try {
    return await work(server, client)
  } finally {
    client.stop()
    await server.stop()
  }
}

// Measures three replicas on one shared store: the memory of an open stream, and how fast a change on one
// reaches the listeners of all.

import { setTimeout as sleep } from 'node:timers/promises'
import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { resources } from '../catalog/definitions.mjs'
import { spread } from '../figures/stats.mjs'
import { grouped, printTable, printTitle, spreadText } from '../figures/table.mjs'
import { listBuilds } from '../servers/contenders.mjs'
import { HAS_PROC, residentBytes } from '../servers/process-figures.mjs'
import { SHARED } from '../state/backends.mjs'
import { writeAnnouncer } from '../streams/announcer.mjs'
import { measureFanOut } from '../streams/fan-out.mjs'
import { SETTLE_MS, startStreamClient, WARM_UP_STREAMS } from '../streams/stream-client.mjs'
import { workspacePath } from '../workspace.mjs'

const REPLICAS = 3
/** One client process for each replica holds its streams: a process may not have many more files open. */
const STREAMS_EACH = 5000
const TOOLS = 50
const LEAST_ROUNDS = 5
/**
 * The rounds announce these two in turn. A repeated notification is detected in the next round, which expects
 * only the other URI.
 */
const URIS = resources().slice(0, 2).map(({ uri }) => uri)
const WHERE = { same: 'the replica that told', other: 'the others', all: 'all' }

export const name = 'replicas'
export const about = `${grouped(REPLICAS * STREAMS_EACH)} streams on three replicas that share a store`

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  await writeAnnouncer(catalog)
  const rows = []
  for (const index of listBuilds(options, {}).keys()) {
    for (const store of SHARED) {
      const row = await measureBuild(options, catalog, index, store)
      rows.push(row)
      show([row])
    }
  }
  return rows
}

async function measureBuild (options, catalog, index, { name: store, start: startStore, absence }) {
  const shared = await startStore()
  const { name: build, node } = listBuilds(options, {})[index]
  const name = `${build}, ${store}`
  if (shared === undefined) return { name, node, leftOut: absence }
  const settingsOf = () => ({
    TRIVET_STATE_URL: shared.url,
    TRIVET_SECRETS: 'sealed for the length of a benchmark',
    TRIVET_MAX_STREAMS: String(2 * STREAMS_EACH)
  })
  const { start } = listBuilds(options, { catalog, toolCount: TOOLS, settingsOf })[index]
  const replicas = []
  try {
    while (replicas.length < REPLICAS) replicas.push({ server: await start(), client: startStreamClient() })
    const kibEach = spread(await Promise.all(replicas.map(openStreams)))
    const fanOut = await measureFanOut(replicas, URIS, Math.max(options.streamRounds, LEAST_ROUNDS))
    return { name, node, streams: REPLICAS * STREAMS_EACH, kibEach, fanOut }
  } finally {
    for (const { client } of replicas) client.stop()
    for (const { server } of replicas) await server.stop()
    await shared.stop()
  }
}

/** @returns the memory of one stream, in KiB. NaN if there is no /proc */
async function openStreams ({ server, client }) {
  const notifications = { resourceSubscriptions: URIS }
  const resident = async () => HAS_PROC ? await residentBytes(server.pid) : NaN
  await client.open(server.url, WARM_UP_STREAMS, notifications)
  await client.close()
  await sleep(SETTLE_MS)
  const before = await resident()
  await client.open(server.url, STREAMS_EACH, notifications)
  await sleep(SETTLE_MS)
  return (await resident() - before) / STREAMS_EACH / 1024
}

export function print (rows) {
  for (const { name, node, leftOut, streams, kibEach, fanOut } of rows) {
    if (leftOut !== undefined) {
      printTitle(`Replicas were left out: ${leftOut}`)
      continue
    }
    const many = `${grouped(streams)} streams on ${REPLICAS} replicas`
    printTitle(`${name}, Node ${node}: ${many}, ${spreadText(kibEach)} KiB each`)
    const head = ['one change to the listeners of', 'streams', 'first ms', 'median ms', 'last ms']
    printTable(head, fanOut.map(({ where, streams, firstMs, medianMs, lastMs }) => (
      [WHERE[where], grouped(streams), spreadText(firstMs), spreadText(medianMs), spreadText(lastMs)]
    )))
  }
}

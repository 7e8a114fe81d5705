// Two replicas on one Redis: what an open stream costs each, and how fast a change on one reaches the listeners of both.

import { setTimeout as sleep } from 'node:timers/promises'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeCatalog } from './catalog.mjs'
import { resources } from './data.mjs'
import { startTrivet } from './peers.mjs'
import { HAS_PROC, residentBytes } from './process-figures.mjs'
import { NO_REDIS, startRedis } from './redis.mjs'
import { ask, modernRequest } from './requests.mjs'
import { median, percentile } from './stats.mjs'
import { arrivals, SETTLE_MS, startStreamClient, WARM_UP_STREAMS } from './stream-client.mjs'
import { workspacePath } from './workspace.mjs'

const REPLICAS = 2
/** Each replica's are held by a process of their own: no process may have many more files open. */
const STREAMS_EACH = 5000
const TOOLS = 50
const CLOCK = fileURLToPath(new URL('clock.mjs', import.meta.url))
/** Announced in turn. A stream that is told twice of the one is found out when only the other is due. */
const URIS = resources().slice(0, 2).map(({ uri }) => uri)

/** @param {{ main: string, streamRounds: number }} options */
export async function benchReplicas ({ main, streamRounds }) {
  const redis = await startRedis()
  if (redis === undefined) return { leftOut: NO_REDIS }
  const replicas = []
  try {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, TOOLS)
    await writeAnnouncer(catalog)
    const settings = { TRIVET_MAX_STREAMS: String(2 * STREAMS_EACH) }
    while (replicas.length < REPLICAS) {
      const server = await startTrivet(main, catalog, { stateUrl: redis.url, settings })
      replicas.push({ server, client: startStreamClient() })
    }
    const memory = await Promise.all(replicas.map(openStreams))
    const fanOut = await benchFanOut(replicas, Math.max(streamRounds, 5))
    return { replicas: REPLICAS, streams: REPLICAS * STREAMS_EACH, memory: HAS_PROC ? { median: median(memory), replicas: memory } : undefined, fanOut }
  } finally {
    for (const { client } of replicas) client.stop()
    for (const { server } of replicas) await server.stop()
    await redis.stop()
  }
}

/** @returns the memory of one stream, in bytes, where the system says */
async function openStreams ({ server, client }) {
  const notifications = { resourceSubscriptions: URIS }
  const resident = async () => HAS_PROC ? await residentBytes(server.pid) : NaN
  await client.open(server.url, WARM_UP_STREAMS, notifications)
  await client.close()
  await sleep(SETTLE_MS)
  const before = await resident()
  await client.open(server.url, STREAMS_EACH, notifications)
  await sleep(SETTLE_MS)
  return (await resident() - before) / STREAMS_EACH
}

/** The replicas announce in turn. The first round warms up, the last one shows that nothing of those before it came twice. */
async function benchFanOut (replicas, rounds) {
  const measured = []
  for (let round = 0; round < rounds + 2; round++) measured.push(await announceOnce(replicas, round))
  for (const { client } of replicas) client.check()
  const counted = measured.slice(1, -1)
  return Object.fromEntries(['same', 'other', 'all'].map((key) => [key, medians(counted.map((round) => round[key]))]))
}

/** Milliseconds from the announcement, by where the listeners are: on the replica that announced, on the other, on both. */
async function announceOnce (replicas, round) {
  const uri = URIS[round % URIS.length]
  const announcing = round % REPLICAS
  const { changed, arrived } = await arrivals(replicas.map(({ client }) => client), uri, () => announce(replicas[announcing].server.url, uri))
  const [same, other] = [true, false].map((isSame) => (
    arrived.flatMap(({ times }, replica) => (replica === announcing) === isSame ? times.map((time) => time - changed) : [])
  ))
  return { same: spread(same), other: spread(other), all: spread([...same, ...other]) }
}

function spread (delays) {
  const sorted = Float64Array.from(delays).sort()
  return { streams: sorted.length, firstMs: sorted[0], medianMs: percentile(sorted, 0.5), lastMs: sorted.at(-1) }
}

function medians (rounds) {
  const figure = (key) => median(rounds.map((round) => round[key]))
  return { streams: figure('streams'), firstMs: figure('firstMs'), medianMs: figure('medianMs'), lastMs: figure('lastMs'), rounds }
}

/** @returns when the tool announced it, by the clock that all processes share */
async function announce (url, uri) {
  const request = modernRequest('tools/call', { name: 'announce', arguments: { uri } })
  const answer = await ask(url, { ...request, isRight: ({ structuredContent }) => structuredContent.announcedAt > 0 })
  return JSON.parse(answer).result.structuredContent.announcedAt
}

async function writeAnnouncer (catalog) {
  await copyFile(CLOCK, join(catalog, 'lib', 'clock.mjs'))
  await writeFile(join(catalog, 'tools', 'announce.ts'), `import { defineTool } from 'trivet'
import { sharedNow } from '../lib/clock.mjs'

export default defineTool({
  name: 'announce',
  description: 'Tells everyone who follows a resource that it has changed.',
  inputSchema: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
  run ({ uri }, ctx) {
    const announcedAt = sharedNow()
    ctx.notify.resourceUpdated(uri)
    return { announcedAt }
  }
})
`)
}

// Requests per second and latency: every peer in turn, on the same requests.

import { writeFile } from 'node:fs/promises'
import { writeCatalog } from './catalog.mjs'
import { CONNECTIONS, measure } from './load.mjs'
import { barePeers, CEILING, MAKING_CEILING, SDK_DOCUMENTED, sdkPeers, startTrivet, TRIVET, TRIVET_LOGGING } from './peers.mjs'
import { cpuMs } from './process-figures.mjs'
import { ask, requests } from './requests.mjs'
import { median, medianRatio } from './stats.mjs'
import { workspacePath } from './workspace.mjs'

/** At this size the yardsticks apply, and Trivet is measured once more with its log on. */
const YARDSTICK_SIZE = 50
/** A peer that takes longer than this for a single request would need minutes for a round. */
const TOO_SLOW_MS = 250
/** A round of fewer answers than this has a fixed number of them: those in flight when time is up would be a good part. */
const FEW_ANSWERS = 50 * CONNECTIONS

/**
 * @param {{ main: string, rounds: number, seconds: number, warmUpSeconds: number }} options
 * @param {number} toolCount
 * @param {(row: object) => void} onRow called with each method's figures as they come
 */
export async function benchCalls (options, toolCount, onRow) {
  const servers = []
  try {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, toolCount)
    const trivet = await startTrivet(options.main, catalog)
    servers.push([TRIVET, trivet])
    servers.unshift(...await barePeers(await recordAnswers(trivet.url, toolCount)))
    if (toolCount === YARDSTICK_SIZE) servers.push([TRIVET_LOGGING, await startTrivet(options.main, catalog, { logging: true })])
    servers.push(...await sdkPeers(toolCount))
    for (const request of requests(toolCount)) onRow({ tools: toolCount, ...await benchMethod(options, servers, request) })
  } finally {
    for (const [, server] of servers) await server.stop()
  }
}

/** Asks Trivet each request once; its answers, by method, are what the bare peers will send. */
async function recordAnswers (url, toolCount) {
  const answers = {}
  for (const request of requests(toolCount)) answers[request.method] = await ask(url, request)
  const file = workspacePath('answers.json')
  await writeFile(file, JSON.stringify(answers))
  return file
}

async function benchMethod ({ rounds, seconds, warmUpSeconds }, servers, request) {
  const contenders = []
  const leftOut = {}
  for (const [name, { url, pid }] of servers) {
    if (name === MAKING_CEILING && request.method !== 'tools/call') continue
    const { answer, ms } = await timedAnswer(url, request)
    if (ms > TOO_SLOW_MS) {
      leftOut[name] = ms
    } else {
      contenders.push({ name, url, pid, bytes: Buffer.byteLength(answer), rounds: [] })
    }
  }
  for (const contender of contenders) {
    const { perSecond } = await measureAlone(contender, request, { seconds: warmUpSeconds })
    const answers = Math.max(Math.round(perSecond * seconds), CONNECTIONS)
    contender.limit = answers < FEW_ANSWERS ? { answers } : { seconds }
  }
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) contender.rounds.push(await measureAlone(contender, request, contender.limit))
  }
  return { method: request.method, bytes: contenders.find(({ name }) => name === TRIVET)?.bytes, peers: contenders.map((contender) => summary(contender, contenders)), leftOut }
}

async function timedAnswer (url, request) {
  await ask(url, request)
  const startedAt = performance.now()
  const answer = await ask(url, request)
  return { answer, ms: performance.now() - startedAt }
}

/**
 * The load generator walks away from requests in flight; the next peer's turn begins when they have been worked off.
 *
 * @returns what `measure` does, and the CPU time of the server's process for one answer
 */
export async function measureAlone ({ url, pid, bytes }, request, limit) {
  const cpuMsBefore = await cpuMs(pid)
  const figures = await measure(url, request, limit, bytes)
  await ask(url, request)
  return { ...figures, cpuUs: (await cpuMs(pid) - cpuMsBefore) * 1000 / figures.answers }
}

function summary ({ name, rounds }, contenders) {
  const all = (key) => rounds.map((round) => round[key])
  const ratio = (key, against) => {
    const other = contenders.find((contender) => contender.name === against)
    return other && medianRatio(all(key), other.rounds.map((round) => round[key]))
  }
  return {
    name,
    perSecond: median(all('perSecond')),
    p50Ms: median(all('p50Ms')),
    p99Ms: median(all('p99Ms')),
    ofCeiling: ratio('perSecond', CEILING),
    p99OfCeiling: ratio('p99Ms', CEILING),
    ofMakingCeiling: ratio('perSecond', MAKING_CEILING),
    timesSdk: ratio('perSecond', SDK_DOCUMENTED),
    cpuUs: median(all('cpuUs')),
    clientBusy: median(all('clientBusy')),
    rounds
  }
}

// What a session costs: the requests of clients of an earlier revision beside those of the current one, to the same service.

import { measureAlone } from './calls.mjs'
import { writeCatalog } from './catalog.mjs'
import { CONNECTIONS } from './load.mjs'
import { startTrivet } from './peers.mjs'
import { ask, LEGACY_REVISION, openSession, requests, REVISION, toLegacyRequest } from './requests.mjs'
import { median, medianRatio } from './stats.mjs'
import { workspacePath } from './workspace.mjs'

const TOOLS = 50
const METHODS = ['tools/call', 'tools/list']
/** The yardstick is narrow, so the median is taken of more ratios than elsewhere. */
const LEAST_ROUNDS = 9

/**
 * @param {{ main: string, rounds: number, seconds: number, warmUpSeconds: number }} options
 */
export async function benchLegacy ({ main, rounds, seconds, warmUpSeconds }) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const { url, pid, stop } = await startTrivet(main, catalog)
  try {
    const sessions = []
    while (sessions.length < CONNECTIONS) sessions.push(await openSession(url))
    const rows = []
    for (const method of METHODS) {
      const modern = requests(TOOLS).find((request) => request.method === method)
      const contenders = []
      for (const [revision, request] of [[REVISION, modern], [LEGACY_REVISION, toLegacyRequest(modern, sessions)]]) {
        contenders.push({ revision, request, url, pid, bytes: Buffer.byteLength(await ask(url, request)), rounds: [] })
      }
      for (const contender of contenders) await measureAlone(contender, contender.request, { seconds: warmUpSeconds })
      for (let round = 0; round < Math.max(rounds, LEAST_ROUNDS); round++) {
        for (const contender of contenders) contender.rounds.push(await measureAlone(contender, contender.request, { seconds }))
      }
      rows.push({ method, tools: TOOLS, revisions: contenders.map((contender) => summary(contender, contenders[0])) })
    }
    return rows
  } finally {
    await stop()
  }
}

function summary ({ revision, bytes, rounds }, modern) {
  const figures = ({ rounds }, key) => rounds.map((round) => round[key])
  const figure = (key) => median(figures({ rounds }, key))
  return {
    revision,
    bytes,
    perSecond: figure('perSecond'),
    ofModern: medianRatio(figures({ rounds }, 'perSecond'), figures(modern, 'perSecond')),
    p50Ms: figure('p50Ms'),
    p99Ms: figure('p99Ms'),
    cpuUs: figure('cpuUs'),
    clientBusy: figure('clientBusy'),
    rounds
  }
}

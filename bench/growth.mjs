// What a call costs as the catalog grows: Trivet with few tools and with many, in alternating rounds.

import { writeCatalog } from './catalog.mjs'
import { measure } from './load.mjs'
import { startTrivet } from './peers.mjs'
import { cpuMs } from './process-figures.mjs'
import { ask, requests } from './requests.mjs'
import { median, medianRatio } from './stats.mjs'
import { workspacePath } from './workspace.mjs'

const SIZES = [5, 5000]
/** The yardstick is narrow, so the median is taken of more ratios than elsewhere. */
const LEAST_ROUNDS = 9

/**
 * @param {{ main: string, rounds: number, seconds: number, warmUpSeconds: number }} options
 */
export async function benchGrowth ({ main, rounds, seconds, warmUpSeconds }) {
  const contenders = []
  try {
    for (const size of SIZES) {
      const catalog = workspacePath('catalog')
      await writeCatalog(catalog, size)
      const server = await startTrivet(main, catalog)
      contenders.push({ size, server, rounds: [] })
    }
    for (const contender of contenders) await measureCalls(contender, { seconds: warmUpSeconds })
    for (let round = 0; round < Math.max(rounds, LEAST_ROUNDS); round++) {
      for (const contender of contenders) contender.rounds.push(await measureCalls(contender, { seconds }))
    }
  } finally {
    for (const { server } of contenders) await server.stop()
  }
  const [few, many] = contenders
  return {
    sizes: contenders.map(({ size, rounds }) => ({ size, perSecond: median(figures(rounds, 'perSecond')), cpuUs: median(figures(rounds, 'cpuUs')), rounds })),
    ratio: medianRatio(figures(many.rounds, 'perSecond'), figures(few.rounds, 'perSecond'))
  }
}

async function measureCalls ({ size, server }, limit) {
  const request = requests(size).find(({ method }) => method === 'tools/call')
  const answer = await ask(server.url, request)
  const cpuMsBefore = await cpuMs(server.pid)
  const figures = await measure(server.url, request, limit, Buffer.byteLength(answer))
  return { ...figures, cpuUs: (await cpuMs(server.pid) - cpuMsBefore) * 1000 / figures.answers }
}

function figures (rounds, key) {
  return rounds.map((round) => round[key])
}

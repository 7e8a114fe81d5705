// Measures latency while each server has half of the load that saturates it, with all methods mixed. Each
// server has its own rate: at a rate that all servers can take, the fast ones would be idle. The tables and
// the picture show the rate beside the latency.

import { createCollection } from '../figures/collection.mjs'
import { spread } from '../figures/stats.mjs'
import { grouped, printServers, rounded, spreadText } from '../figures/table.mjs'
import { pace } from '../load/pace.mjs'
import { interleave } from '../load/rounds.mjs'
import { prepareTargets } from '../load/targets.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { prepareCatalog } from '../servers/prepare-catalog.mjs'
import { withStarted } from '../servers/started.mjs'

const TOOLS = 50
const SHARE = 0.5

export const name = 'half'
export const about = 'p50 and p99 latency at half of the rate that saturates each server, methods mixed'

export async function run (options, show) {
  const listed = await prepareCatalog(options, TOOLS, options.servers)
  const turns = createCollection(listed)
  const requests = { method: 'mix', toolCount: TOOLS, ids: options.ids }
  for (let start = 0; start < options.starts; start++) {
    await withStarted(listed, async (contenders, leftOut) => {
      for (const one of leftOut) turns.leaveOut(one)
      const ready = await prepareTargets(contenders, requests, turns.leaveOut)
      turns.addStart(ready, await measureHalf(options, ready))
    })
  }
  const result = { share: SHARE, ...turns.summary() }
  show(result)
  return result
}

async function measureHalf (options, ready) {
  const saturated = await saturateInTurns(ready, { ...options, rounds: 1 })
  const contenders = ready.map((contender, index) => {
    // Other work on the machine can only lower the rate.
    const { quartiles: [, high] } = spread(saturated[index].map((turn) => turn?.perSecond))
    return { ...contender, perSecond: high * SHARE }
  })
  return interleave(contenders, options, async ({ server, rings, perSecond }) => (
    { perSecond, ...await pace({ url: server.url, rings }, { perSecond, seconds: options.seconds }) }
  ))
}

export function print ({ servers }) {
  printServers('Latency at half of the saturation of each server, methods mixed, in ms', servers, [
    ['req/s', ({ perSecond }) => spreadText(perSecond, grouped)],
    ['p50', ({ p50Ms }) => spreadText(p50Ms)],
    ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.p50Ms)],
    ['p99', ({ p99Ms }) => spreadText(p99Ms)],
    ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.p99Ms)],
    ['p99.9', ({ p999Ms }) => rounded(p999Ms.median)],
    ['not sent', ({ unsent }) => unsent.median === 0 ? '' : `${Math.round(unsent.median * 100)} %`]
  ])
}

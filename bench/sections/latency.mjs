// Measures latency at a fixed rate with all methods mixed: the wait of a client while the server is not
// saturated.

import { summarise } from '../figures/summary.mjs'
import { printServers, spreadText } from '../figures/table.mjs'
import { pace } from '../load/pace.mjs'
import { interleave } from '../load/rounds.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { createChecks } from '../requests/answers.mjs'
import { createRings, forServer } from '../requests/rings.mjs'
import { CEILING, TRIVET } from '../servers/contenders.mjs'
import { prepareCatalog } from '../servers/prepare-catalog.mjs'
import { withStarted } from '../servers/started.mjs'

const TOOLS = 50

export const name = 'latency'
export const about = 'p50, p99 and p99.9 latency at a fixed rate, counted from the due time of each request'

export async function run (options, show) {
  const listed = await prepareCatalog(options, TOOLS)
  return withStarted(listed, async (started) => {
    const contenders = []
    const shared = createRings({ method: 'mix', toolCount: TOOLS, ids: options.ids })
    for (const contender of started) {
      const rings = forServer(shared)
      await checkAnswers({ url: contender.server.url, rings }, createChecks(TOOLS))
      contenders.push({ ...contender, rings })
    }
    const pacing = (seconds) => ({ perSecond: options.rate, seconds })
    const once = ({ server, rings }, seconds) => pace({ url: server.url, rings }, pacing(seconds))
    for (const contender of contenders) await once(contender, options.warmUpSeconds)
    const figures = await interleave(contenders, options, (contender) => once(contender, options.seconds * 2))
    const servers = summarise(contenders, figures, { ofCeiling: ({ ceiling }) => ceiling })
    const result = { rate: options.rate, servers }
    show(result)
    return result
  })
}

export function print ({ rate, servers }) {
  printServers(`Latency at ${rate} requests per second, methods mixed, in ms`, servers, [
    ['p50', ({ p50Ms }) => spreadText(p50Ms)],
    ['p99', ({ p99Ms }) => spreadText(p99Ms)],
    ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.p99Ms)],
    ['p99.9', ({ p999Ms }) => spreadText(p999Ms)],
    ['worst', ({ worstMs }) => spreadText(worstMs)],
    ['not sent', ({ unsent }) => unsent.median === 0 ? '' : `${Math.round(unsent.median * 100)} %`]
  ])
}

export function yardsticks ({ rate, servers }) {
  return servers.filter(({ name }) => name === TRIVET).map(({ node, ofCeiling }) => (
    { name: `p99 of ${CEILING}'s at ${rate}/s, Node ${node}`, atMost: 2, figure: ofCeiling?.p99Ms.median }
  ))
}

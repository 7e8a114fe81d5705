// Saturation in short turns: a round has several of each contender's, so that a burst of other work falls on all of them.

import { percentile } from '../figures/stats.mjs'
import { createPatience } from './others.mjs'
import { takeLap } from './rounds.mjs'
import { saturate } from './saturate.mjs'

const TURN_SECONDS = 0.25
/** Who answers less than this in a turn has one long one in a round: what is in flight at its end has to be waited for. */
const FEW_ANSWERS = 200

/**
 * Each contender at saturation.
 *
 * @param {{ server: object, rings: object[] }[]} contenders
 * @param {object} options
 * @param {number} options.rounds
 * @param {number} options.seconds in each round
 * @param {number} options.warmUpSeconds
 * @param {number} options.calm see `interleave`
 * @param {boolean} [options.sleeps] see `saturate`
 * @param {boolean} [options.watches] whether stalls and memory are figures, too
 * @returns {Promise<object[][]>} for each contender, round by round: `perSecond`, `cpuUs` for one answer, `p50Ms`, `p99Ms`,
 *   `clientBusy`, the share of the time in which the load generator had work, and `others`, that of the machine which others
 *   used meanwhile
 */
export async function saturateInTurns (contenders, { rounds, seconds, warmUpSeconds, calm, sleeps = false, watches = false }) {
  const laps = Math.max(1, Math.round(seconds / TURN_SECONDS))
  const once = async ({ server, rings }, seconds) => {
    if (watches) await server.watch()
    const part = await saturate({ url: server.url, rings }, { seconds, sleeps })
    return watches ? { ...part, ...await server.stopWatching() } : part
  }
  const slow = new Set()
  for (const contender of contenders) {
    const { latencies, elapsedMs } = await once(contender, warmUpSeconds)
    if (latencies.length / elapsedMs * TURN_SECONDS * 1000 < FEW_ANSWERS) slow.add(contender)
  }
  const isBusy = createPatience(calm)
  const figures = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const parts = new Map(contenders.map((contender) => [contender, []]))
    for (let lap = 0; lap < laps; lap++) {
      const taking = lap === 0 ? contenders : contenders.filter((contender) => !slow.has(contender))
      const taken = await takeLap(taking, lap + round, (one) => once(one, slow.has(one) ? seconds : seconds / laps), isBusy)
      for (const [contender, part] of taken) parts.get(contender).push(part)
    }
    for (const [index, contender] of contenders.entries()) figures[index].push(combine(parts.get(contender)))
  }
  return figures
}

function combine (parts) {
  const sum = (key) => parts.reduce((sum, part) => sum + part[key], 0)
  const latencies = Float64Array.from(parts.flatMap((part) => part.latencies)).sort()
  return {
    perSecond: latencies.length / sum('elapsedMs') * 1000,
    cpuUs: sum('cpuMs') * 1000 / latencies.length,
    p50Ms: percentile(latencies, 0.50),
    p99Ms: percentile(latencies, 0.99),
    clientBusy: sum('busyMs') / sum('elapsedMs'),
    others: sum('others') / parts.length,
    ...parts[0].peakBytes !== undefined && {
      longestStallMs: Math.max(...parts.map(({ longestStallMs }) => longestStallMs)),
      peakMiB: Math.max(...parts.map(({ peakBytes }) => peakBytes)) / 2 ** 20
    }
  }
}

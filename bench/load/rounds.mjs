// Rounds: everyone in turn, again and again, so that what else the machine does falls on all alike.

import { percentile } from '../figures/stats.mjs'
import { createPatience, watchOthers } from './others.mjs'
import { saturate } from './saturate.mjs'

/** A turn at saturation. A round has several of each contender's, so that a burst of other work falls on all of them. */
const TURN_SECONDS = 0.25
/** Who answers less than this in a turn has one in a round: what is in flight at its end has to be waited for. */
const FEW_ANSWERS = 200

/**
 * The turns rotate, so that nobody always comes after the same one.
 *
 * @param {object[]} contenders
 * @param {(contender: object, round: number) => Promise<T>} measure
 * @returns {Promise<T[][]>} for each contender its figures, round by round
 * @template T
 */
export async function interleave (contenders, rounds, measure) {
  const figures = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const index = (turn + round) % contenders.length
      figures[index].push(await measure(contenders[index], round))
    }
  }
  return figures
}

/**
 * Each contender at saturation.
 *
 * @param {{ server: object, rings: object[] }[]} contenders
 * @param {{ rounds: number, seconds: number, warmUpSeconds: number, sleeps?: boolean, calm: number }} options `seconds`: in
 *   each round; `calm`: seconds to spend on measuring again what was measured while others were busy
 * @returns {Promise<object[][]>} for each contender, round by round: `perSecond`, `cpuUs` for one answer, `p50Ms`, `p99Ms`,
 *   `clientBusy`, the share of the time in which the load generator had work, and `others`, that of the machine which others
 *   used meanwhile
 */
export async function saturateInTurns (contenders, { rounds, seconds, warmUpSeconds, sleeps = false, calm }) {
  const laps = Math.max(1, Math.round(seconds / TURN_SECONDS))
  const slow = new Set()
  for (const contender of contenders) {
    const { latencies, elapsedMs } = await takeTurn(contender, warmUpSeconds, sleeps)
    if (latencies.length / elapsedMs * TURN_SECONDS * 1000 < FEW_ANSWERS) slow.add(contender)
  }
  const isBusy = createPatience(calm)
  const figures = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const parts = new Map(contenders.map((contender) => [contender, []]))
    for (let lap = 0; lap < laps; lap++) {
      const taking = lap === 0 ? contenders : contenders.filter((contender) => !slow.has(contender))
      const taken = await takeLap(taking, lap + round, seconds / laps, sleeps, isBusy)
      for (const [contender, part] of taken) parts.get(contender).push(part)
    }
    for (const [index, contender] of contenders.entries()) figures[index].push(combine(parts.get(contender)))
  }
  return figures
}

/** A turn of each, and all of them again if others were busy. */
async function takeLap (contenders, first, seconds, sleeps, isBusy) {
  while (true) {
    const startedAt = performance.now()
    const taken = []
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(turn + first) % contenders.length]
      taken.push([contender, await takeTurn(contender, seconds, sleeps)])
    }
    const share = Math.max(...taken.map(([, { others }]) => others))
    if (!await isBusy(share, performance.now() - startedAt)) return taken
  }
}

async function takeTurn ({ server, rings }, seconds, sleeps) {
  const { cpuMs } = await server.usage()
  const shareOfOthers = watchOthers()
  const part = await saturate({ url: server.url, rings }, { seconds, sleeps })
  const usedMs = (await server.usage()).cpuMs - cpuMs
  return { ...part, cpuMs: usedMs, others: shareOfOthers(usedMs) }
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
    others: sum('others') / parts.length
  }
}

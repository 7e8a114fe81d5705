// Saturates contenders in short turns. A round has several turns of each contender, so that a burst of other
// work affects all contenders.

import { percentile } from '../figures/stats.mjs'
import { createPatience } from './others.mjs'
import { takeLap } from './rounds.mjs'
import { saturate } from './saturate.mjs'

const TURN_SECONDS = 0.25
/**
 * A contender with fewer answers in a turn takes one long turn in each round. A turn has to wait for the
 * requests in flight at its end, and that wait would distort a short turn.
 */
const FEW_ANSWERS = 64
/**
 * After this many answers, most of the frequently used code is compiled. On a busy machine, the compiler has
 * less time: a call has taken 423 µs after 11,000 answers, and 44 µs later.
 */
export const WARM_ANSWERS = 20_000
/** A step has half of the warm-up seconds. */
export const MOST_WARM_STEPS = 30
/** A server whose code is not compiled can be slow in its first steps, above all on a busy machine. */
const LEAST_WARM_STEPS = 6
/** A server is warm when a step takes at least this share of the CPU of an answer of the step before. */
export const WARM_SHARE = 0.9

/**
 * Measures each contender at saturation.
 *
 * @param {{ server: object, rings: object[] }[]} contenders
 * @param {object} options
 * @param {number} options.rounds
 * @param {number} options.seconds of each contender in a round
 * @param {number} options.warmUpSeconds
 * @param {number} options.calm see `interleave`
 * @param {boolean} [options.sleeps] see `saturate`
 * @param {boolean} [options.watches] whether to measure stalls and memory too
 * @returns {Promise<object[][]>} for each contender, turn by turn: `perSecond`, `cpuUs` for one answer,
 *   `p50Ms`, `p99Ms`, `clientBusy`, the share of the time in which the load generator had work, and `others`,
 *   the share of the machine that other processes used. The first turn also has `warmUpAnswers` and
 *   `warmUpSeconds`, the warm-up before it. A turn that was not taken is `undefined`
 */
export async function saturateInTurns (contenders, options) {
  const { rounds, seconds, warmUpSeconds, calm, sleeps = false, watches = false } = options
  const laps = Math.max(1, Math.round(seconds / TURN_SECONDS))
  const once = async ({ server, rings }, seconds) => {
    if (watches) await server.watch()
    const part = await saturate({ url: server.url, rings }, { seconds, sleeps })
    return watches ? { ...part, ...await server.stopWatching() } : part
  }
  const warmUps = new Map()
  for (const contender of contenders) {
    const step = (seconds) => once(contender, seconds)
    warmUps.set(contender, await warmUp(contender, step, warmUpSeconds / 2))
  }
  const slow = new Set(contenders.filter((contender) => (
    warmUps.get(contender).perSecond * TURN_SECONDS < FEW_ANSWERS
  )))
  const isBusy = createPatience(calm)
  const figures = contenders.map(() => [])
  for (let lap = 0; lap < rounds * laps; lap++) {
    const isFirst = lap % laps === 0
    const taking = isFirst ? contenders : contenders.filter((contender) => !slow.has(contender))
    const secondsOf = (contender) => slow.has(contender) ? seconds : seconds / laps
    const taken = await takeLap(taking, lap, (one) => once(one, secondsOf(one)), isBusy)
    for (const [index, contender] of contenders.entries()) {
      figures[index].push(taken.has(contender) ? toFigures(taken.get(contender)) : undefined)
    }
  }
  for (const [index, contender] of contenders.entries()) {
    const { answers, elapsedMs } = warmUps.get(contender)
    Object.assign(figures[index][0], { warmUpAnswers: answers, warmUpSeconds: elapsedMs / 1000 })
  }
  return figures
}

/**
 * @returns {Promise<{ answers: number, elapsedMs: number, perSecond: number }>} the answers and the time of
 *   all steps, and the answers per second of the last step
 */
async function warmUp ({ server }, saturateFor, seconds) {
  let answers = 0
  let totalMs = 0
  let lastUs = Infinity
  for (let steps = 1; ; steps++) {
    const before = await server.usage()
    const { latencies, elapsedMs } = await saturateFor(seconds)
    const after = await server.usage()
    answers += latencies.length
    totalMs += elapsedMs
    const perSecond = latencies.length / elapsedMs * 1000
    const cpuUs = (after.cpuMs - before.cpuMs) * 1000 / latencies.length
    const isHopeless = steps >= LEAST_WARM_STEPS && perSecond * seconds * MOST_WARM_STEPS < WARM_ANSWERS
    const isWarm = answers >= WARM_ANSWERS && cpuUs >= lastUs * WARM_SHARE
    if (isWarm || isHopeless || steps === MOST_WARM_STEPS) return { answers, elapsedMs: totalMs, perSecond }
    lastUs = cpuUs
  }
}

/** @param {object} turn what `saturate` returned, with `cpuMs` and `others` of a lap */
export function toFigures (turn) {
  const { latencies, elapsedMs, busyMs, cpuMs, others, longestStallMs, longestStallCpuMs, peakBytes } = turn
  const sorted = Float64Array.from(latencies).sort()
  return {
    perSecond: sorted.length / elapsedMs * 1000,
    cpuUs: cpuMs * 1000 / sorted.length,
    p50Ms: percentile(sorted, 0.50),
    p99Ms: percentile(sorted, 0.99),
    clientBusy: busyMs / elapsedMs,
    others,
    ...peakBytes !== undefined && { longestStallMs, longestStallCpuMs, peakMiB: peakBytes / 2 ** 20 }
  }
}

// Measures contenders in turn, in several rounds, so that other work on the machine affects all contenders
// alike.

import { createPatience, watchOthers } from './others.mjs'

/**
 * The order of the turns rotates, so that no contender always comes after the same contender.
 *
 * @param {{ server: object }[]} contenders
 * @param {{ rounds: number, calm: number }} options `calm`: seconds to spend on the repetition of rounds
 *   during which other processes were busy
 * @param {(contender: object, round: number) => Promise<object>} measure
 * @returns {Promise<object[][]>} for each contender its figures, round by round, with `cpuMs`, the CPU time
 *   of its server, and `others`, the share of the machine that other processes used
 */
export async function interleave (contenders, { rounds, calm }, measure) {
  const isBusy = createPatience(calm)
  const figures = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const taken = await takeLap(contenders, round, (contender) => measure(contender, round), isBusy)
    for (const [index, contender] of contenders.entries()) figures[index].push(taken.get(contender))
  }
  return figures
}

/** Takes a turn of each contender. Repeats all the turns if other processes were busy. */
export async function takeLap (contenders, first, measure, isBusy) {
  while (true) {
    const startedAt = performance.now()
    const taken = new Map()
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(turn + first) % contenders.length]
      taken.set(contender, await takeTurn(contender, measure))
    }
    const share = Math.max(...[...taken.values()].map(({ others }) => others))
    if (!await isBusy(share, performance.now() - startedAt)) return taken
  }
}

async function takeTurn (contender, measure) {
  const { server } = contender
  const before = await server.usage()
  const shareOfOthers = watchOthers()
  const figures = await measure(contender)
  const after = await server.usage()
  const cpuMs = after.cpuMs - before.cpuMs
  return { ...figures, cpuMs, others: shareOfOthers(cpuMs) }
}

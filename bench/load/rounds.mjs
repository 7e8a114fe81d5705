// Rounds: everyone in turn, again and again, so that what else the machine does falls on all alike.

/**
 * The turns rotate, so that nobody always comes after the same one first.
 *
 * @param {object[]} contenders
 * @param {(contender: object, round: number) => Promise<object>} measure
 * @returns {Promise<object[][]>} for each contender its figures, round by round
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

/** Does `work`, and adds the CPU time of the server's process for one answer, in microseconds. */
export async function withCpu (server, work) {
  const before = await server.usage()
  const figures = await work()
  const after = await server.usage()
  return { ...figures, cpuUs: (after.cpuMs - before.cpuMs) * 1000 / figures.answers }
}

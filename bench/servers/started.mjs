// Starts contenders one after the other, and stops them when the work ends, even with an error.

/**
 * @param {object[]} contenders
 * @param {(started: object[], leftOut: object[]) => Promise<T>} work gets the contenders with their `server`.
 *   A peer that does not start is in `leftOut`, with the reason
 * @returns {Promise<T>}
 * @template T
 */
export async function withStarted (contenders, work) {
  const started = []
  const leftOut = []
  try {
    for (const contender of contenders) {
      try {
        started.push({ ...contender, server: await contender.start() })
      } catch (error) {
        if (contender.isPeer !== true) throw error
        leftOut.push({ name: contender.name, node: contender.node, reason: error.message })
      }
    }
    return await work(started, leftOut)
  } finally {
    for (const { server } of started) await server.stop()
  }
}

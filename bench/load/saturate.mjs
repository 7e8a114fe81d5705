// As much as a server can do: each connection sends its next request when it has the answer to the one
// before.

import { checkAnswer } from '../requests/answers.mjs'
import { keepAwake, withConnections } from './sender.mjs'

/**
 * @param {{ url: string, rings: object[] }} target
 * @param {{ seconds: number, sleeps?: boolean }} limit `sleeps`: whether the load generator leaves its CPU to
 *   others while it has nothing to do, as it must where the server has more than one thread or process
 * @returns {Promise<{ latencies: number[], elapsedMs: number, busyMs: number }>} `busyMs`: for how long the
 *   load generator itself had work
 */
export async function saturate (target, { seconds, sleeps = false }) {
  return withConnections(target, async (connections, hooks) => {
    const latencies = []
    const measureBusy = keepAwake(() => latencies.length, { sleeps })
    const startedAt = performance.now()
    const endsAt = startedAt + seconds * 1000
    let inFlight = connections.length
    // Nothing is left in flight: what the server has spent was spent on answers that are counted.
    const finished = new Promise((resolve) => {
      hooks.onAnswer = (connection) => {
        const now = performance.now()
        latencies.push(now - connection.since)
        if (now < endsAt) connection.send(now)
        else if (--inFlight === 0) resolve(now)
      }
    })
    for (const connection of connections) connection.send(performance.now())
    const lastAt = await Promise.race([finished, hooks.failed])
    const elapsedMs = lastAt - startedAt
    return { latencies, elapsedMs, busyMs: measureBusy() * elapsedMs }
  })
}

/**
 * Sends the first requests of each connection, and looks at every answer. @throws at the first that is wrong
 */
export async function checkAnswers ({ url, rings }, checks, each = 4) {
  return withConnections({ url, rings, keeps: true }, async (connections, hooks) => {
    let due = connections.length * each
    const sent = new Map(connections.map((connection) => [connection, 1]))
    const finished = new Promise((resolve, reject) => {
      hooks.onAnswer = (connection, reader, request) => {
        try {
          checkAnswer(checks, request, reader.text())
        } catch (error) {
          reject(new Error(`${url}: ${error.message}`))
          return
        }
        reader.reset()
        if (--due === 0) return resolve()
        const count = sent.get(connection)
        sent.set(connection, count + 1)
        if (count < each) connection.send(performance.now())
      }
    })
    for (const connection of connections) connection.send(performance.now())
    await Promise.race([finished, hooks.failed])
  })
}

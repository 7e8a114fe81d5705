// Saturates a server: each connection sends its next request when it has the answer to the request before.

import { checkAnswer } from '../requests/answers.mjs'
import { keepAwake, withConnections } from './sender.mjs'

/**
 * @param {{ url: string, rings: object[] }} target
 * @param {{ seconds: number, answers?: number, sleeps?: boolean }} limit `answers`: the most answers;
 *   `sleeps`: whether the load generator frees its CPU while it is idle. The generator must do so if the
 *   server has more than one thread or process
 * @returns {Promise<{ latencies: number[], elapsedMs: number, busyMs: number }>} `busyMs`: the time in which
 *   the load generator had work
 */
export async function saturate (target, { seconds, answers = Infinity, sleeps = false }) {
  return withConnections(target, async (connections, hooks) => {
    const latencies = []
    const measureBusy = keepAwake(() => latencies.length, { sleeps })
    const startedAt = performance.now()
    const endsAt = startedAt + seconds * 1000
    let inFlight = connections.length
    // No request is left in flight, so that all CPU time of the server belongs to counted answers.
    const finished = new Promise((resolve) => {
      hooks.onAnswer = (connection) => {
        const now = performance.now()
        latencies.push(now - connection.since)
        if (now < endsAt && latencies.length + inFlight <= answers) connection.send(now)
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
 * Sends the first requests of each connection, and checks every answer. @throws at the first wrong answer
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

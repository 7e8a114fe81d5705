// The load generator: connections that are opened for one measurement, and how much of its time the generator
// had work.

import { Connection } from './connection.mjs'

/**
 * Opens a connection for each ring, does `work`, and closes them.
 *
 * @param {{ url: string, rings: object[], keeps?: boolean }} target `keeps`: whether bodies are kept
 * @param {(connections: Connection[], hooks: { onAnswer: Function, failed: Promise<never> }) =>
 *   Promise<object>} work
 */
export async function withConnections ({ url, rings, keeps = false }, work) {
  let fail
  const failed = new Promise((resolve, reject) => { fail = reject })
  failed.catch(() => {})
  const hooks = { onAnswer: () => {}, failed }
  const connections = rings.map((ring) => new Connection(url, {
    ring,
    keeps,
    onAnswer: (connection, reader, request) => hooks.onAnswer(connection, reader, request),
    onFailure: (error) => fail(new Error(`${url}: ${error.message}`))
  }))
  try {
    await Promise.race([failed, Promise.all(connections.map((connection) => connection.opened()))])
    return await work(connections, hooks)
  } finally {
    for (const connection of connections) connection.close()
  }
}

/**
 * A load generator that falls asleep has to be woken by what the server writes, and that costs the server
 * more than many an answer: the slower it is, the more often. So this one never sleeps, unless it is told to.
 *
 * @param {() => number} countWork what has been done so far
 * @param {{ onTurn?: (now: number) => void, sleeps?: boolean }} [options] `onTurn`: called in each turn of
 *   the event loop
 * @returns {() => number} to be called at the end: the share of the time in which there was work
 */
export function keepAwake (countWork, { onTurn, sleeps = false } = {}) {
  if (sleeps) {
    const before = performance.eventLoopUtilization()
    return () => performance.eventLoopUtilization(before).utilization
  }
  const startedAt = performance.now()
  let idleMs = 0
  let done = countWork()
  let last = startedAt
  let next = setImmediate(look)
  function look () {
    const now = performance.now()
    if (countWork() === done) idleMs += now - last
    done = countWork()
    last = now
    onTurn?.(now)
    next = setImmediate(look)
  }
  return () => {
    clearImmediate(next)
    return 1 - idleMs / (last - startedAt)
  }
}

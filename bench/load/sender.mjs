// The load generator: opens connections for one measurement, and measures the share of the time in which the
// generator had work.

import { Connection } from './connection.mjs'

/**
 * Opens a connection for each ring, does `work`, and closes the connections.
 *
 * @param {{ url: string, rings: object[], keeps?: boolean }} target `keeps`: whether to keep the bodies of
 *   answers
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
 * Keeps the load generator awake, unless `sleeps` is set. The writes of the server have to wake a sleeping
 * generator. Such a wake-up can cost the server more than an answer, and a slower server pays for more of
 * them.
 *
 * @param {() => number} countWork returns the amount of work done so far
 * @param {{ onTurn?: (now: number) => void, sleeps?: boolean }} [options] `onTurn`: called in each turn of
 *   the event loop
 * @returns {() => number} to be called at the end; returns the share of the time in which there was work
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

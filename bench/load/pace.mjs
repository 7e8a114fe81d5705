// A fixed rate: requests fall due by the clock, whether or not those before them were answered. A latency
// counts from when its request fell due, so that a server that stalls is charged for all that had to wait.

import { percentile } from '../figures/stats.mjs'
import { keepAwake, withConnections } from './sender.mjs'

/** Later than this the server cannot keep up, and the measurement ends. */
const MOST_WAITING_SECONDS = 5

/**
 * @param {{ url: string, rings: object[] }} target
 * @param {{ perSecond: number, seconds: number }} rate
 * @returns {Promise<{ answers: number, p50Ms: number, p99Ms: number, p999Ms: number, worstMs: number,
 *   clientBusy: number }>}
 */
export async function pace (target, { perSecond, seconds }) {
  return withConnections(target, async (connections, hooks) => {
    const latencies = []
    const idle = [...connections]
    const total = Math.round(perSecond * seconds)
    const startedAt = performance.now()
    const dueAt = (index) => startedAt + index * 1000 / perSecond
    let sent = 0
    let complete
    const finished = new Promise((resolve, reject) => { complete = { resolve, reject } })

    function sendDue (now) {
      while (sent < total && idle.length > 0 && dueAt(sent) <= now) idle.shift().send(dueAt(sent++))
      const isLate = sent < total && now - dueAt(sent) > MOST_WAITING_SECONDS * 1000
      if (isLate) complete.reject(new TooSlow(target.url, perSecond))
    }
    hooks.onAnswer = (connection) => {
      const now = performance.now()
      latencies.push(now - connection.since)
      idle.push(connection)
      if (latencies.length === total) complete.resolve()
      else sendDue(now)
    }
    const measureBusy = keepAwake(() => latencies.length + sent, { onTurn: sendDue })
    try {
      await Promise.race([finished, hooks.failed])
    } finally {
      hooks.clientBusy = measureBusy()
    }
    const sorted = Float64Array.from(latencies).sort()
    return {
      answers: total,
      p50Ms: percentile(sorted, 0.50),
      p99Ms: percentile(sorted, 0.99),
      p999Ms: percentile(sorted, 0.999),
      worstMs: sorted.at(-1),
      clientBusy: hooks.clientBusy
    }
  })
}

/** A server cannot keep up with the rate. */
export class TooSlow extends Error {
  constructor (url, perSecond) {
    super(`${url} does not keep up with ${perSecond} requests per second`)
    this.name = 'TooSlow'
  }
}

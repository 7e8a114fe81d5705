// Sends requests at a fixed rate. A request falls due by the clock, whether or not the requests before it
// were answered. A latency counts from the due time, so that a stall counts for every request that had to
// wait.

import { percentile } from '../figures/stats.mjs'
import { keepAwake, withConnections } from './sender.mjs'

/** A server that is this far behind cannot keep up, and the measurement ends. */
const MOST_BEHIND_MS = 5000

/**
 * @param {{ url: string, rings: object[] }} target
 * @param {{ perSecond: number, seconds: number }} rate
 * @returns {Promise<object>} `p50Ms`, `p99Ms`, `p999Ms`, `worstMs`, `clientBusy`, and `unsent`, the share of
 *   the requests that were never sent because the server did not keep up. The latency of an unsent request is
 *   the time that the request had waited
 */
export async function pace (target, { perSecond, seconds }) {
  return withConnections(target, async (connections, hooks) => {
    const latencies = []
    const idle = [...connections]
    const total = Math.round(perSecond * seconds)
    const startedAt = performance.now()
    const dueAt = (index) => startedAt + index * 1000 / perSecond
    let sent = 0
    let unsent = 0
    let resolve
    const finished = new Promise((_resolve) => { resolve = _resolve })

    function sendDue (now) {
      while (sent + unsent < total && idle.length > 0 && dueAt(sent) <= now) idle.shift().send(dueAt(sent++))
      if (unsent > 0 || sent === total || now - dueAt(sent) < MOST_BEHIND_MS) return
      unsent = total - sent
      for (let index = sent; index < total; index++) latencies.push(Math.max(now - dueAt(index), 0))
    }
    hooks.onAnswer = (connection) => {
      const now = performance.now()
      latencies.push(now - connection.since)
      idle.push(connection)
      sendDue(now)
      if (latencies.length === total) resolve()
    }
    const measureBusy = keepAwake(() => latencies.length + sent, { onTurn: sendDue })
    try {
      await Promise.race([finished, hooks.failed])
    } finally {
      hooks.clientBusy = measureBusy()
    }
    const sorted = Float64Array.from(latencies).sort()
    return {
      p50Ms: percentile(sorted, 0.50),
      p99Ms: percentile(sorted, 0.99),
      p999Ms: percentile(sorted, 0.999),
      worstMs: sorted.at(-1),
      clientBusy: hooks.clientBusy,
      unsent: unsent / total
    }
  })
}

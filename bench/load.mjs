// One measurement: so many seconds, or so many answers, of one request on a fixed number of connections.

import autocannon from 'autocannon'
import { percentile } from './stats.mjs'

export const CONNECTIONS = 32
const REQUEST_TIMEOUT_SECONDS = 30

/**
 * @param {string} url
 * @param {{ method: string, headers: object, body: string, variants?: { headers?: object, body: string }[] }} request `variants`: shared out
 *   among the connections, each of which sends its own in turn, with these headers on top; otherwise all send the one `body`
 * @param {{ seconds: number } | { answers: number }} limit
 * @param {number} leastBytes no answer may be shorter: an error inside a 200 would be
 * @returns {Promise<{ answers: number, perSecond: number, p50Ms: number, p99Ms: number, clientBusy: number }>} `clientBusy`: the share of
 *   the time in which the load generator itself had work; near 1, it is the client that is measured
 */
export async function measure (url, { method, headers, body, variants = [{ body }] }, limit, leastBytes) {
  // autocannon's own histogram counts in whole milliseconds, too coarse for answers that take one.
  const latencies = []
  let shortest = Infinity
  let lastAt
  const startedAt = performance.now()
  const idle = performance.eventLoopUtilization()
  const result = await new Promise((resolve, reject) => {
    const options = {
      url,
      method: 'POST',
      headers,
      setupClient: shareOut(variants),
      connections: CONNECTIONS,
      timeout: REQUEST_TIMEOUT_SECONDS,
      ...'answers' in limit ? { amount: limit.answers } : { duration: limit.seconds }
    }
    const run = autocannon(options, (error, result) => error ? reject(error) : resolve(result))
    run.on('response', (client, status, bytes, ms) => {
      lastAt = performance.now()
      latencies.push(ms)
      if (bytes < shortest) shortest = bytes
    })
  })
  const clientBusy = performance.eventLoopUtilization(idle).utilization
  const failures = result.non2xx + result.errors + result.timeouts
  if (failures > 0 || latencies.length === 0 || shortest < leastBytes) {
    throw new Error(`${method} at ${url}: ${latencies.length} answers, ${result.non2xx} of them not 2xx, ${result.errors} errors, ${result.timeouts} timeouts, the shortest of ${shortest} bytes where ${leastBytes} were due`)
  }
  const sorted = Float64Array.from(latencies).sort()
  return {
    answers: latencies.length,
    perSecond: latencies.length / (lastAt - startedAt) * 1000,
    p50Ms: percentile(sorted, 0.50),
    p99Ms: percentile(sorted, 0.99),
    clientBusy
  }
}

/** No two connections have a variant in common, unless there are fewer of these. */
function shareOut (variants) {
  const parts = Math.min(CONNECTIONS, variants.length)
  let connections = 0
  return (client) => {
    const part = connections++ % parts
    client.setRequests(variants.filter((_, index) => index % parts === part).map((variant) => ({ ...variant })))
  }
}

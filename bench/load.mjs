// One measurement: so many seconds, or so many answers, of one request on a fixed number of connections.

import autocannon from 'autocannon'
import { percentile } from './stats.mjs'

export const CONNECTIONS = 32
const REQUEST_TIMEOUT_SECONDS = 30

/**
 * @param {string} url
 * @param {{ method: string, headers: object, body: string, variants?: { headers?: object, body: string }[] }} request `variants`: shared out
 *   among the connections, each of which sends its own in turn, with these headers on top; otherwise all send the one `body`
 * @param {({ seconds: number } | { answers: number }) & { sleeps?: boolean }} limit `sleeps`: whether the load generator leaves its CPU to others
 *   while it has nothing to do, as it must where the server has more than one thread or process
 * @param {number} leastBytes no answer may be shorter: an error inside a 200 would be
 * @returns {Promise<{ answers: number, perSecond: number, p50Ms: number, p99Ms: number, clientBusy: number }>} `clientBusy`: the share of
 *   the time in which the load generator itself had work; near 1, it is the client that is measured
 */
export async function measure (url, { method, headers, body, variants = [{ body }] }, limit, leastBytes) {
  // autocannon's own histogram counts in whole milliseconds, too coarse for answers that take one.
  const latencies = []
  let shortest = Infinity
  let lastAt
  const measureBusy = limit.sleeps === true ? measureWork() : keepAwake(() => latencies.length)
  const startedAt = performance.now()
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
  const clientBusy = measureBusy()
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

/**
 * A load generator that falls asleep has to be woken by what the server writes, and that costs the server more than many
 * an answer: the slower it is, the more often. So this one never sleeps.
 *
 * @param {() => number} countAnswers
 * @returns {() => number} to be called at the end: the share of the time in which there was work
 */
function keepAwake (countAnswers) {
  const startedAt = performance.now()
  let idleMs = 0
  let answers = countAnswers()
  let last = startedAt
  let next = setImmediate(look)
  function look () {
    const now = performance.now()
    if (countAnswers() === answers) idleMs += now - last
    answers = countAnswers()
    last = now
    next = setImmediate(look)
  }
  return () => {
    clearImmediate(next)
    return 1 - idleMs / (last - startedAt)
  }
}

/** The same for one that sleeps. */
function measureWork () {
  const idle = performance.eventLoopUtilization()
  return () => performance.eventLoopUtilization(idle).utilization
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

// Sends requests at a fixed rate whatever the server does: when no connection is free, another one is opened.
// Real callers do not wait for each other either.

import { once } from 'node:events'
import { connect } from 'node:net'
import { percentile } from '../figures/stats.mjs'
import { AnswerReader } from './wire.mjs'

/** A request without an answer after this time, in milliseconds, counts as lost. */
const PATIENCE_MS = 10_000
const TURN_MS = 2

/**
 * @param {{ url: string, toBytes: (index: number) => Buffer }} target `toBytes` makes a whole request
 * @param {{ perSecond: number, seconds: number, skipSeconds?: number }} rate requests that fall due before
 *   `skipSeconds` are not counted
 * @returns {Promise<object>} `served` and `refused` per second, `lost`, the share without an answer, and
 *   `p50Ms` and `p99Ms` of served requests, from their due time
 */
export async function openLoop ({ url, toBytes }, { perSecond, seconds, skipSeconds = 0 }) {
  const { hostname, port } = new URL(url)
  const idle = []
  const all = []
  const latencies = []
  let refused = 0
  let open = 0

  function add () {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const connection = { socket, reader: new AnswerReader(), due: 0, counts: false }
    socket.on('data', (chunk) => {
      if (!connection.reader.read(chunk)) return
      const { status } = connection.reader
      connection.reader.reset()
      idle.push(connection)
      open--
      if (!connection.counts) return
      if (status === 200) latencies.push(performance.now() - connection.due)
      else if (status === 503) refused++
      else throw new Error(`${url}: status ${status}`)
    })
    socket.on('error', () => {})
    all.push(socket)
    return connection
  }

  const startedAt = performance.now()
  const total = Math.round(perSecond * seconds)
  const first = Math.round(perSecond * skipSeconds)
  for (let sent = 0; sent < total;) {
    const due = startedAt + sent * 1000 / perSecond
    const now = performance.now()
    if (due > now) {
      await new Promise((resolve) => { setTimeout(resolve, Math.max(due - now, TURN_MS)) })
      continue
    }
    const connection = idle.pop() ?? add()
    connection.due = due
    connection.counts = sent >= first
    connection.socket.write(toBytes(sent++))
    open++
  }
  const patience = performance.now() + PATIENCE_MS
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      if (open > 0 && performance.now() < patience) return
      clearInterval(timer)
      resolve()
    }, 50)
  })
  const closed = all.map((socket) => socket.destroyed ? undefined : once(socket.destroy(), 'close'))
  await Promise.all(closed)
  const sorted = Float64Array.from(latencies).sort()
  const counted = seconds - skipSeconds
  return {
    served: sorted.length / counted,
    refused: refused / counted,
    lost: 1 - (sorted.length + refused) / (total - first),
    p50Ms: percentile(sorted, 0.50),
    p99Ms: percentile(sorted, 0.99),
    connections: all.length
  }
}

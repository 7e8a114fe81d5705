// A TCP proxy between replicas and a server. It cuts connections, delays them, and loses replies after the
// server has done what was asked.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'

/** How long a lost reply is waited for before the connection is cut, in milliseconds. */
const LOST_MS = 50

export interface FaultyConnection {
  readonly port: number
  /** Cuts every connection. */
  cut (): void
  /** Delays the replies of every connection for this time, in milliseconds. */
  delay (ms: number): void
  /** Passes on requests, drops the replies, and cuts the connections. */
  loseReplies (): void
}

interface Pair { readonly inbound: Socket, isDeaf: boolean }

/** @param port the port of the server, on this machine. */
export async function openFaultyConnection (t: Test, port: number): Promise<FaultyConnection> {
  const pairs = new Set<Pair>()
  let delayMs = 0

  const server = createServer((inbound) => {
    const outbound = connect(port, '127.0.0.1')
    const pair: Pair = { inbound, isDeaf: false }
    // Replies keep their order, also when the delay changes.
    let sending = Promise.resolve()
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      inbound.destroy()
      outbound.destroy()
    }
    for (const socket of [inbound, outbound]) socket.setNoDelay().on('error', end).on('close', end)
    inbound.on('data', (bytes) => { outbound.write(bytes) })
    outbound.on('data', (bytes) => {
      if (pair.isDeaf) return
      const sendAt = performance.now() + delayMs
      sending = sending.then(async () => {
        if (sendAt > performance.now()) await pause(sendAt - performance.now())
        if (!inbound.destroyed) inbound.write(bytes)
      })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const { inbound } of pairs) inbound.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    cut () { for (const { inbound } of pairs) inbound.destroy() },
    delay (ms) { delayMs = ms },
    loseReplies () {
      for (const pair of pairs) {
        pair.isDeaf = true
        setTimeout(() => pair.inbound.destroy(), LOST_MS)
      }
    }
  }
}

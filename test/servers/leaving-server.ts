// A TCP proxy to a server that goes away at a chosen moment: it cuts all connections, and takes no new ones
// until it is back.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface LeavingServer {
  readonly port: number
  /** What has passed so far, in both directions, new connections included. */
  readonly passed: number
}

interface Leave {
  /** After how many packets, in both directions, new connections included. */
  readonly at: number
  /** For how long, in milliseconds. */
  readonly ms: number
}

/**
 * @param port the port of the server, on this machine.
 * @param change returns what the client gets in place of an answer.
 */
export async function openLeavingServer (
  t: Test, port: number, { at, ms }: Leave, change = (bytes: Buffer): Buffer => bytes
): Promise<LeavingServer> {
  const sockets = new Set<Socket>()
  let passed = 0
  let isAway = false

  /** Returns whether the packet may pass. */
  function pass (): boolean {
    if (isAway) return false
    if (passed++ !== at) return true
    isAway = true
    if (ms < Infinity) setTimeout(() => { isAway = false }, ms).unref()
    for (const socket of sockets) reset(socket)
    return false
  }

  const server = createServer((inbound) => {
    inbound.on('error', () => {})
    sockets.add(inbound)
    inbound.on('close', () => { sockets.delete(inbound) })
    if (!pass()) {
      reset(inbound)
      return
    }
    const outbound = connect(port, '127.0.0.1')
    outbound.on('error', () => {}).on('close', () => {
      if (!inbound.writableEnded) inbound.destroy()
    })
    inbound.on('close', () => outbound.destroy())
    inbound.on('data', (bytes) => { if (pass()) outbound.write(bytes) })
    outbound.on('data', (bytes) => { if (pass()) inbound.write(change(bytes)) })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    get passed () { return passed }
  }
}

/** Node never closes a socket that is reset while it ends: the process then loops at its exit. */
function reset (socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

// Limits of the connections: how many are open, how long bytes may wait for a client that does not read, and
// how many requests one connection may send ahead of the answers.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

interface ConnectionLimits {
  readonly maxConnections: number
  /** How long a client may read nothing while bytes wait for it, in milliseconds. 60 s by default. */
  readonly stallMs?: number
  /** Called for each connection that is closed because its client does not read. */
  onStalled (remoteAddress: string | undefined): void
}

/**
 * Longer than two keep-alives at the default interval: the subscriptions close their slow streams earlier,
 * and log which stream it was.
 */
const STALL_MS = 60_000
const CHECKS_PER_STALL = 6
const MAX_REQUESTS_AHEAD = 100

/** Connections are checked by one timer, so that requests pay nothing. */
export function limitConnections (
  server: Server, { maxConnections, stallMs = STALL_MS, onStalled }: ConnectionLimits
): void {
  const open = new Set<Socket>()
  server.maxConnections = maxConnections

  function cut (this: Socket): void {
    onStalled(this.remoteAddress)
    this.destroy()
  }

  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => { open.delete(socket) })
  })
  const timer = setInterval(() => {
    for (const socket of open) {
      const isWatched = socket.timeout === stallMs
      // The timeout of a socket begins again whenever the client has read some of the bytes.
      if (socket.writableLength > 0 && !isWatched) socket.setTimeout(stallMs, cut)
      // A silent stream must not be cut. The HTTP server's own timeout of an idle connection is kept.
      if (socket.writableLength === 0 && isWatched) socket.setTimeout(0, cut)
    }
  }, stallMs / CHECKS_PER_STALL).unref()
  server.once('close', () => clearInterval(timer))
}

const ahead = new WeakMap<Socket, number>()

/**
 * Serves a request that a client sent before it received the earlier answers of its connection. The request
 * waits for its turn: otherwise all answers would wait in memory while the client reads none of them.
 */
export function serveInTurn (
  { raw: { socket } }: FastifyRequest, { raw }: FastifyReply, serve: () => void
): void {
  const count = (ahead.get(socket) ?? 0) + 1
  ahead.set(socket, count)
  if (count > MAX_REQUESTS_AHEAD) {
    socket.destroy()
    return
  }
  // The HTTP server gives the connection to one answer at a time.
  raw.once('socket', () => {
    ahead.set(socket, (ahead.get(socket) ?? 1) - 1)
    queueMicrotask(serve)
  })
}

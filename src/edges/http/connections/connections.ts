// Limits of the connections: how many are open, in all and of one network, how long bytes may wait for a
// client that does not read, and how many requests one connection may send ahead of the answers.

import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ANONYMOUS } from '../../../platform/access/principal.ts'
import { createCounts } from '../../../base/counts.ts'
import { timers } from '../../../base/time.ts'
import type { ArrivingBytes } from '../../../platform/limits/arriving-bytes.ts'
import { networkOf } from '../../../platform/limits/holder.ts'
import { lastExchangeOf, type HttpExchange } from './client-errors.ts'
import { HalfHeaders } from './half-headers.ts'
import { lingersSince } from './lingering.ts'

interface ConnectionLimits {
  /** One network may have half of them. */
  readonly maxConnections: number
  /** The bytes of headers that have not come whole. */
  readonly headerBytes: ArrivingBytes
  /** Whether the peer is a proxy, which has the connections of many clients. */
  isProxy (remoteAddress: string): boolean
  /** How long a client may read nothing while bytes wait for it, in milliseconds. 60 s by default. */
  readonly stallMs?: number
  /** Called for each connection that is closed because its client does not read. */
  onStalled (remoteAddress: string | undefined): void
  /** Called for each connection that is refused because its network has its share, or that gives way. */
  onRefused (error: Error): void
}

/**
 * Longer than two keep-alives at the default interval: the subscriptions close their slow streams earlier,
 * and log which stream it was.
 */
const STALL_MS = 60_000
const CHECKS_PER_STALL = 6
/**
 * How long a client may take to send the headers of a request while the server closes, and how often the
 * connections are checked then. In milliseconds.
 */
const HEADERS_MS = 500
/** The checks after which a body counts as abandoned of which nothing has come. */
const SILENT_CHECKS = 4
/** How long a client may still send while the server closes, after its last answer. In milliseconds. */
const LINGERING_MS = 1500
const MAX_REQUESTS_AHEAD = 100
/** How often the bytes of headers are counted, in milliseconds. */
const COUNT_HEADERS_MS = 500
/** No request was read, so there is no JSON-RPC error. */
const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n' +
  'Retry-After: 5\r\n\r\n'

/** Connections that are open beside those of streams: of requests, and idle ones of load balancers. */
export const MAX_OTHER_CONNECTIONS = 10_000

/** What a shutdown does with connections. */
interface LimitedConnections {
  /**
   * Closes the connections that have sent nothing, or only a part of a request, after some time: the server
   * closes idle ones only after their first request. Call it when no new connection is accepted.
   */
  closeSilent (): void
}

/** Connections are checked by one timer, so that requests pay nothing. */
export function limitConnections (
  server: Server,
  { maxConnections, headerBytes, stallMs = STALL_MS, isProxy, onStalled, onRefused }: ConnectionLimits
): LimitedConnections {
  const open = new Set<Socket>()
  const byNetwork = createCounts()
  const share = Math.ceil(maxConnections / 2)
  server.maxConnections = maxConnections

  function cut (this: Socket): void {
    onStalled(this.remoteAddress)
    this.destroy()
  }

  function addressOf ({ remoteAddress: address }: Socket): string | undefined {
    return address === undefined || isProxy(address) ? undefined : address
  }

  function networkOfPeer (socket: Socket): string | undefined {
    return networkOf({ principal: ANONYMOUS, address: addressOf(socket) })
  }

  server.on('connection', (socket) => {
    const network = networkOfPeer(socket)
    if (byNetwork.of(network) >= share) {
      onRefused(new ConnectionsUsed(network, share))
      socket.end(REFUSAL)
      return socket.destroySoon()
    }
    const uncount = byNetwork.add(network, 1)
    open.add(socket)
    socket.once('close', () => {
      open.delete(socket)
      uncount()
    })
  })
  const timer = timers.setInterval(() => {
    for (const socket of open) {
      const isWatched = socket.timeout === stallMs
      // The timeout of a socket begins again whenever the client has read some of the bytes.
      if (socket.writableLength > 0 && !isWatched) socket.setTimeout(stallMs, cut)
      // A silent stream must not be cut. The HTTP server's own timeout of an idle connection is kept.
      if (socket.writableLength === 0 && isWatched) socket.setTimeout(0, cut)
    }
  }, stallMs / CHECKS_PER_STALL).unref()
  const halfHeaders = new HalfHeaders({ bytes: headerBytes, addressOf, onRefused })
  const counts = timers.setInterval(() => {
    for (const socket of open) halfHeaders.check(socket)
  }, COUNT_HEADERS_MS).unref()
  server.once('close', () => {
    timers.clear(timer)
    timers.clear(counts)
  })
  return {
    closeSilent () {
      const silences = new Map<Socket, Silence>()
      // Sockets are read before it runs: a request may have come meanwhile.
      const check = () => {
        for (const socket of open) {
          if (lingersSince(socket, LINGERING_MS)) continue
          const exchange = lastExchangeOf(socket)
          const silence = silenceOf(socket, silences.get(socket))
          silences.set(socket, silence)
          const isAbandoned = exchange !== undefined && isSending(exchange) && silence.checks >= SILENT_CHECKS
          if (isAbandoned || (!isServed(exchange) && socket.writableLength === 0)) socket.destroy()
        }
      }
      const checks = timers.setInterval(() => setImmediate(check), HEADERS_MS).unref()
      server.once('close', () => timers.clear(checks))
    }
  }
}

function isServed (exchange: HttpExchange | undefined): boolean {
  return exchange !== undefined && !exchange.response.writableFinished
}

/** Whether the service waits for the client to send the rest of a body. */
function isSending ({ request, response }: HttpExchange): boolean {
  return !request.complete && !response.headersSent && request.readableLength === 0
}

interface Silence {
  readonly bytesRead: number
  /** The checks in a row that have found no new byte. */
  readonly checks: number
}

function silenceOf ({ bytesRead }: Socket, earlier: Silence | undefined): Silence {
  return { bytesRead, checks: earlier?.bytesRead === bytesRead ? earlier.checks + 1 : 0 }
}

/** One network has its share of the connections. */
class ConnectionsUsed extends Error {
  override readonly name = 'ConnectionsUsed'
  constructor (network: string | undefined, share: number) {
    super(
      `${network} has ${share} connections, half of the limit. ` +
      'If this is the address of a proxy, name the proxy in TRIVET_TRUSTED_PROXIES'
    )
  }
}

/** What a request takes beside its headers, and what is read from a socket at a time. In bytes. */
const [REQUEST_BYTES, READ_BYTES] = [4096, 65_536]

const ahead = new WeakMap<Socket, number>()

/**
 * Serves a request that a client sent before it received the earlier answers of its connection. The request
 * waits for its turn: otherwise all answers would wait in memory while the client reads none of them.
 */
export function serveInTurn (
  { raw: request, address }: FastifyRequest, { raw }: FastifyReply, arrivingBytes: ArrivingBytes,
  serve: () => void
): void {
  const { socket } = request
  const count = (ahead.get(socket) ?? 0) + 1
  ahead.set(socket, count)
  if (count > MAX_REQUESTS_AHEAD) {
    socket.destroy()
    return
  }
  const arriving = arrivingBytes.open({ principal: ANONYMOUS, address }, () => socket.destroy())
  request.once('close', arriving.close)
  arriving.add(waitingBytesOf(request))
  // The HTTP server gives the connection to one answer at a time.
  raw.once('socket', () => {
    ahead.set(socket, (ahead.get(socket) ?? 1) - 1)
    arriving.close()
    queueMicrotask(serve)
  })
}

/** The most that a request takes before its body is read: the body pauses above the mark of its stream. */
function waitingBytesOf ({ headers, rawHeaders, readableHighWaterMark }: IncomingMessage): number {
  const body = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity
  const text = rawHeaders.reduce((length, line) => length + line.length, 0)
  return REQUEST_BYTES + text + Math.min(body, readableHighWaterMark + READ_BYTES)
}

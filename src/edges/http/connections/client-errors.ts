// Answers bytes that are no request of HTTP, and clients that take too long. The connection closes, also that
// of a client that sends on and on after its answer.

import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { timers } from '../../../base/time.ts'

/** A request whose headers have come, and its answer. */
export interface HttpExchange { readonly request: IncomingMessage, readonly response: ServerResponse }

const exchanges = new WeakMap<Socket, HttpExchange>()

/**
 * Remembers the last request of each connection until it is over: an idle connection would hold its headers,
 * and all that listens to its answer, such as a text of megabytes.
 */
export function rememberExchanges (server: Server): void {
  server.on('request', (request, response) => {
    exchanges.set(request.socket, { request, response })
    response.on('close', forget)
  })
}

function forget (this: ServerResponse): void {
  const { socket, complete } = this.req
  if (!complete) limitRest(this.req)
  else if (exchanges.get(socket)?.response === this) exchanges.delete(socket)
}

/** What may follow of a request that was answered early, in bytes: a refused body, which is read on. */
const MAX_REST_BYTES = 1_048_576
const CHECK_REST_EVERY_MS = 250

/** Ends a connection whose client sends on and on. It still reads the answer. */
function limitRest (request: IncomingMessage): void {
  const { socket } = request
  const end = socket.bytesRead + MAX_REST_BYTES
  const checks = timers.setInterval(() => {
    const isOver = request.complete || socket.destroyed
    if (!isOver && socket.bytesRead <= end) return
    timers.clear(checks)
    if (!isOver) socket.destroySoon()
  }, CHECK_REST_EVERY_MS).unref()
}

/** Returns the last request of a connection, unless all of it has come and its answer is closed. */
export function lastExchangeOf (socket: Socket): HttpExchange | undefined {
  return exchanges.get(socket)
}

/** What may follow a request before its answer is sent: then the connection closes at once. */
const MAX_BYTES_BEHIND = 65_536

/** The bytes that a connection had received when its parser gave up. */
const failures = new WeakMap<Socket, number>()

/** Earlier requests are answered first: the client may have sent a Content-Length that is too small. */
export function answerClientError (error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const exchange = lastExchangeOf(socket)
  const receivedBytes = failures.get(socket)
  if (receivedBytes !== undefined) {
    // The parser fails again with each byte, and when the client ends its side.
    const isGone = socket.readableEnded || socket.bytesRead - receivedBytes > MAX_BYTES_BEHIND
    if (isGone && !isAnswered(exchange)) socket.destroy()
    return
  }
  failures.set(socket, socket.bytesRead)
  if (exchange?.request.complete === true && !isAnswered(exchange)) {
    exchange.response.once('close', () => refuse(socket, error))
  } else if (exchange?.request.complete === false && exchange.response.headersSent) {
    // The request was answered before all of it had come.
    socket.destroySoon()
  } else refuse(socket, error)
}

function isAnswered (exchange: HttpExchange | undefined): boolean {
  return exchange === undefined || exchange.response.writableFinished
}

const PROBLEMS: { readonly [code: string]: readonly [status: number, problem: string] } = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Client Timeout'],
  HPE_HEADER_OVERFLOW: [431, 'Exceeded maximum allowed HTTP header size'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Exceeded maximum allowed size of chunk extensions']
}

function refuse (socket: Socket, { code = '' }: NodeJS.ErrnoException): void {
  const [status, message] = PROBLEMS[code] ?? [400, 'Client Error']
  const error = STATUS_CODES[status]
  const body = JSON.stringify({ error, message, statusCode: status })
  if (socket.writable) {
    socket.write(`HTTP/1.1 ${status} ${error}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`)
  }
  socket.destroySoon()
}

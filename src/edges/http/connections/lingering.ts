// Closes a connection so that its last answer arrives. The kernel resets a connection that is closed while
// bytes of its client are unread or on their way, and a client that still sends then loses the answer. So the
// service ends its own side, reads on, and closes when the client has.
// https://www.rfc-editor.org/rfc/rfc9112#name-tear-down

import type { Server } from 'node:http'
import { Socket } from 'node:net'
import { clock } from '../../../base/time.ts'
import { lastExchangeOf } from './client-errors.ts'

/** How long the bytes of a client are read, and how long it may send none, in milliseconds. */
const [LONGEST_MS, SILENT_MS] = [30_000, 5000]
/** Browsers read no answer before they have sent a whole file. */
const MAX_BYTES = 268_435_456
/** One of them costs as much as an idle connection. Beyond it the one goes that has lingered longest. */
const MAX_LINGERING = 4000

/** When the service ended its side of a connection. Entries of closed connections go by themselves. */
const endings = new WeakMap<Socket, number>()

/** Whether the service ended its side of the connection within this time, in milliseconds. */
export function lingersSince (socket: Socket, ms: number): boolean {
  const endedAt = endings.get(socket)
  return endedAt !== undefined && clock.monotonic() - endedAt < ms
}

/** The HTTP server closes a connection after its last answer by `destroySoon`. */
export function lingerBeforeClose (server: Server, maxLingering = MAX_LINGERING): void {
  const lingering = new Set<Socket>()

  function linger (this: Socket): void {
    if (this.destroyed || endings.has(this)) return
    if (hasSentAll(this)) return Reflect.apply(Socket.prototype.destroySoon, this, [])
    const endedAt = clock.monotonic()
    endings.set(this, endedAt)
    lingering.add(this.once('close', () => lingering.delete(this)))
    if (lingering.size > maxLingering) lingering.values().next().value?.destroy()
    this.end()
    let bytes = 0
    readUnparsed(this, ({ length }) => {
      bytes += length
      if (bytes > MAX_BYTES || clock.monotonic() - endedAt > LONGEST_MS) this.destroy()
    })
    this.removeAllListeners('timeout').setTimeout(SILENT_MS, () => this.destroy())
  }

  server.on('connection', (socket) => { socket.destroySoon = linger })
}

/** Whether the client has said that this request is its last, and all of it has come. */
function hasSentAll (socket: Socket): boolean {
  const { request, response } = lastExchangeOf(socket) ?? {}
  return request?.complete === true && response?.shouldKeepAlive === false
}

/**
 * Takes the connection from the HTTP server, as an upgrade does: a request behind the last must not run. The
 * server still learns when the connection closes.
 */
function readUnparsed (socket: Socket, onBytes: (bytes: Buffer) => void): void {
  socket.removeAllListeners('data').removeAllListeners('end')
  // The first listener takes the bytes from the parser, which may have paused them. The stream waits for
  // bytes that the parser got: empty ones end the wait.
  socket.on('data', onBytes).push('')
  socket.resume()
}

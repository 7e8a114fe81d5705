// How an answer is put on the wire.

import { ServerResponse as NodeServerResponse, type IncomingMessage } from 'node:http'

/**
 * A text that ends an answer right after its headers leaves with them, in one write. Before version 24, Node has an empty
 * chunk follow, and pays for a vectored write of the two.
 */
export class ServerResponse<Request extends IncomingMessage = IncomingMessage> extends NodeServerResponse<Request> {
  override end (callback?: () => void): this
  override end (chunk: unknown, callback?: () => void): this
  override end (chunk: unknown, encoding: BufferEncoding, callback?: () => void): this
  override end (chunk?: unknown, encoding?: unknown, callback?: unknown): this {
    const { socket } = this
    // Before the headers are fixed nobody has said how long the answer is, and `write` would send it in chunks.
    const isWhole = typeof chunk === 'string' && (encoding ?? callback ?? undefined) === undefined && this.headersSent && !this.writableEnded
    if (!isWhole || socket?.destroyed !== false) return Reflect.apply(super.end, this, [chunk, encoding, callback])
    // `write` corks a socket until the next tick, unless it is corked already.
    socket.cork()
    this.write(chunk)
    socket.uncork()
    return super.end()
  }
}

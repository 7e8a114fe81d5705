// How the events of a stream are written to its socket.

import type { ServerResponse } from 'node:http'

/** The length in hexadecimal digits, and two line ends. */
const MAX_FRAME_BYTES = 12

/**
 * Makes a response write a chunk and its length as one text, at once. Node writes three pieces in a later
 * tick, which takes 5 µs more of a stream's 20 (one event to 5,000 streams, Node 20.20), and which no bound
 * of a batch sees.
 */
export function writeWholeChunks (response: ServerResponse): void {
  const { write } = response
  let isBegun = false
  response.write = (chunk: unknown, ...options: unknown[]): boolean => {
    const { socket } = response
    // Node sends the headers with the first chunk. It also waits for a socket that is full or not there yet.
    const isWhole = isBegun && Buffer.isBuffer(chunk) && chunk.length > 0 && options.length === 0 &&
      response.chunkedEncoding && !response.writableEnded && socket?.writable === true &&
      socket.writableLength === 0 && chunk.length + MAX_FRAME_BYTES < socket.writableHighWaterMark
    isBegun = true
    if (!isWhole) return Reflect.apply(write, response, [chunk, ...options])
    // Latin1 keeps each byte.
    return socket.write(`${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`, 'latin1')
  }
}

// The bytes of large answers that wait in memory until their clients have read them.

import type { ServerResponse } from 'node:http'

export interface WaitingBytes {
  /**
   * Counts an answer until its response is closed. Returns `false`, and counts nothing, while so many bytes
   * wait that the answer must not be sent.
   */
  take (response: ServerResponse, bytes: number): boolean
}

/** Smaller answers are not counted: each connection has at most one answer that waits. */
const LARGE_BYTES = 65_536
const MAX_WAITING_BYTES = 268_435_456

export function createWaitingBytes (maxBytes = MAX_WAITING_BYTES): WaitingBytes {
  let waiting = 0
  return {
    take (response, bytes) {
      // An answer to a client that is gone is dropped at once.
      if (bytes < LARGE_BYTES || response.closed) return true
      if (waiting >= maxBytes) return false
      waiting += bytes
      response.once('close', () => { waiting -= bytes })
      return true
    }
  }
}

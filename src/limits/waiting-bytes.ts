// The bytes of large answers that wait in memory until their clients have read them.

import type { ServerResponse } from 'node:http'
import { createTally } from '../base/tally.ts'
import type { Sender } from './network.ts'
import { shareholderOf, shareOf } from './share.ts'

/** An answer, and who gets it. */
interface WaitingReply { readonly raw: ServerResponse, readonly request: Sender }

export interface WaitingBytes {
  /**
   * Counts an answer until its response is closed. Returns `false`, and counts nothing, while so many bytes
   * wait, for all clients or for those of the same principal or network, that the answer must not be sent.
   */
  take (reply: WaitingReply, bytes: number): boolean
}

/** Smaller answers are not counted: each connection has at most one answer that waits. */
const LARGE_BYTES = 65_536
const MAX_WAITING_BYTES = 268_435_456

export function createWaitingBytes (maxBytes = MAX_WAITING_BYTES): WaitingBytes {
  const byShareholder = createTally()
  let waiting = 0
  return {
    take ({ raw, request }, bytes) {
      // An answer to a client that is gone is dropped at once.
      if (bytes < LARGE_BYTES || raw.closed) return true
      const shareholder = shareholderOf(request)
      const share = shareholder === undefined ? maxBytes : shareOf(maxBytes, shareholder.kind)
      if (waiting >= maxBytes || byShareholder.of(shareholder?.name) >= share) return false
      waiting += bytes
      const uncount = byShareholder.add(shareholder?.name, bytes)
      raw.once('close', () => {
        waiting -= bytes
        uncount()
      })
      return true
    }
  }
}

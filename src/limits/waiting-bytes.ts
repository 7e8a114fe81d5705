// The bytes of large answers that wait in memory until their clients have read them.

import type { ServerResponse } from 'node:http'
import { holderOf, type Sender } from './holder.ts'
import { Limit } from './limits.ts'
import { Used } from './used.ts'

/** An answer, and who gets it. */
interface WaitingReply { readonly raw: ServerResponse, readonly request: Sender }

/** Smaller answers are not counted: each connection has at most one answer that waits. */
const LARGE_BYTES = 65_536

export class WaitingBytes {
  readonly #used: Used

  constructor (max?: number) {
    this.#used = new Used(new Limit('waitingBytes', max))
  }

  /**
   * Counts an answer until its response is closed. Returns `false`, and counts nothing, if the answer must
   * not be sent: the bytes that wait for all clients, or for those of its holder, are at their limit.
   */
  take ({ raw, request }: WaitingReply, bytes: number): boolean {
    // An answer to a client that is gone is dropped at once.
    if (bytes < LARGE_BYTES || raw.closed) return true
    const holder = holderOf(request)
    if (this.#used.findRefusal(holder) !== undefined) return false
    raw.once('close', this.#used.add(holder, bytes))
    return true
  }
}

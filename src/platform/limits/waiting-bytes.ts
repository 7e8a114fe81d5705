// The bytes of large answers: those of results that are being made, and of answers that wait in memory until
// their clients have read them.

import type { ServerResponse } from 'node:http'
import { clock } from '../../base/time.ts'
import { holderOf, type Holder, type Sender } from './holder.ts'
import { Limit, partOf, withinHeap } from './limits.ts'
import { Used } from './used.ts'

/** An answer, and who gets it. */
interface WaitingReply { readonly raw: ServerResponse, readonly request: Sender }

/** Smaller answers are not counted: each connection has at most one answer that waits. */
export const LARGE_BYTES = 65_536
/** How long an answer waits before it gives way to others, in milliseconds: its client hardly reads. */
const PATIENCE_MS = 10_000
/** The texts of the answers may have a quarter of the heap, which holds more than them. */
const HEAP_DIVISOR = 4

/** Returns the bytes that may wait in one of the workers. */
export function maxWaitingBytes (workerCount: number): number {
  return withinHeap(partOf('waitingBytes', workerCount), HEAP_DIVISOR)
}

interface WaitingAnswer {
  readonly reply: WaitingReply
  readonly since: number
  /** Ends the counting. Does nothing if it has ended. */
  release (): void
}

/**
 * While the answers together have more bytes than the limit, the oldest gives way if it has waited long.
 * Otherwise clients of ten networks that read nothing would have all of the limit for a minute, and others no
 * large answer.
 */
export class WaitingBytes {
  /** Called when bytes are not counted any more. */
  onFreed: () => void = () => {}
  readonly #limit: Limit
  readonly #used: Used
  readonly #onCut: (request: Sender) => void
  /** Oldest first. */
  readonly #answers = new Set<WaitingAnswer>()

  /** @param onCut is called for each connection that is closed because its answer gives way. */
  constructor (max?: number, onCut: (request: Sender) => void = () => {}) {
    this.#limit = new Limit('waitingBytes', max)
    this.#used = new Used(this.#limit)
    this.#onCut = onCut
  }

  /**
   * Counts an answer until its response is closed. Returns `false`, and counts nothing, if the answer must
   * not be sent: the bytes that wait for all clients, or for those of its holder, are at their limit.
   */
  take (reply: WaitingReply, bytes: number): boolean {
    const { raw, request } = reply
    // An answer to a client that is gone is dropped at once.
    if (bytes < LARGE_BYTES || raw.closed) return true
    const holder = holderOf(request)
    if (!this.hasRoom(holder)) return false
    const uncount = this.add(holder, bytes)
    const answer: WaitingAnswer = {
      reply,
      since: clock.monotonic(),
      release: () => { if (this.#answers.delete(answer)) uncount() }
    }
    this.#answers.add(answer)
    raw.once('close', answer.release)
    return true
  }

  /** Whether the holder may have more bytes. @param mayCut whether answers that have waited long give way. */
  hasRoom (holder: Holder | undefined, mayCut = true): boolean {
    if (holder !== undefined && this.#used.isShareUsed(holder)) return false
    while (this.#used.findRefusal(holder) !== undefined) if (!mayCut || !this.#cutOldest()) return false
    return true
  }

  /** Counts bytes of a result that is being made. Returns a function that ends the counting; call it once. */
  add (holder: Holder | undefined, bytes: number): () => void {
    const uncount = this.#used.add(holder, bytes)
    return () => {
      uncount()
      this.onFreed()
    }
  }

  /** Says why the holder may not have more bytes. */
  describe (holder: Holder | undefined): string {
    const isShare = holder !== undefined && this.#used.isShareUsed(holder)
    return this.#limit.describe(isShare ? holder.kind : 'all')
  }

  /** Returns `false` if no answer has waited long. */
  #cutOldest (): boolean {
    const before = clock.monotonic() - PATIENCE_MS
    for (const { reply: { raw, request }, since, release } of this.#answers) {
      if (since > before) return false
      // The answers of a batch wait for each other.
      if (!raw.headersSent) continue
      release()
      this.#onCut(request)
      raw.destroy()
      return true
    }
    return false
  }
}

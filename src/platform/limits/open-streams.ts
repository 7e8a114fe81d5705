// The open streams of this replica, of every kind.

import { holderOf, type Sender } from './holder.ts'
import { Limit } from './limits.ts'
import { Used } from './used.ts'

export class OpenStreams {
  readonly #used: Used

  /** @param max the most streams that this replica may have open. */
  constructor (max: number) {
    this.#used = new Used(new Limit('streams', max))
  }

  get size (): number { return this.#used.total }

  /** How many networks and principals have an open stream. */
  get holders (): number { return this.#used.holders }

  /**
   * Throws a ProtocolError if a new stream of the sender must be refused. Add the stream in the same turn,
   * before anything is awaited.
   */
  checkRoom (sender: Sender): void {
    const refusal = this.#used.findRefusal(holderOf(sender))
    if (refusal !== undefined) throw refusal
  }

  /** Counts the stream until it closes. */
  add (stream: { onClose (listener: () => void): void }, sender: Sender): void {
    stream.onClose(this.#used.add(holderOf(sender)))
  }
}

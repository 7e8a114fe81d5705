// Counts on this replica how much of one limit is used, in all and by each holder.

import type { ProtocolError } from '../protocol/errors.ts'
import type { Holder } from './holder.ts'
import type { Limit } from './limits.ts'

export class Used {
  readonly #limit: Limit
  /** Holders that use nothing have no entry. */
  readonly #byHolder = new Map<string, number>()
  #total = 0

  constructor (limit: Limit) {
    this.#limit = limit
  }

  /** How much all holders use together. */
  get total (): number { return this.#total }

  /** How many holders use a part of their share. */
  get holders (): number { return this.#byHolder.size }

  /** Returns the refusal of one more, if all is used or the share of the holder is. */
  findRefusal (holder: Holder | undefined): ProtocolError | undefined {
    if (this.#total >= this.#limit.shareOf('all')) return this.#limit.refusal('all')
    if (holder === undefined || !this.isShareUsed(holder)) return undefined
    return this.#limit.refusal(holder.kind, holder.kind === 'network' ? holder.name : undefined)
  }

  isShareUsed (holder: Holder): boolean {
    return this.#of(holder) >= this.#limit.shareOf(holder.kind)
  }

  /** Counts also what is beyond the limit. Returns a function that ends the counting; call it once. */
  add (holder: Holder | undefined, amount = 1): () => void {
    this.#change(holder, amount)
    return () => this.#change(holder, -amount)
  }

  #of ({ name }: Holder): number {
    return this.#byHolder.get(name) ?? 0
  }

  #change (holder: Holder | undefined, amount: number): void {
    this.#total += amount
    if (holder === undefined) return
    const sum = this.#of(holder) + amount
    if (sum === 0) this.#byHolder.delete(holder.name)
    else this.#byHolder.set(holder.name, sum)
  }
}

// The places of the calls of one upstream. Calls that wait for a credential are counted apart: an
// authorization server that hangs keeps nobody out whose credential is there.

import type { Holder } from '../../platform/limits/holder.ts'
import { Limit } from '../../platform/limits/limits.ts'
import { Used } from '../../platform/limits/used.ts'
import { CallError } from './call-error.ts'

export class Places {
  readonly #asking: Used
  readonly #waiting: Used

  /** @param max how many calls may ask at once, and how many may wait. */
  constructor (max: number) {
    this.#asking = new Used(new Limit('upstreamCalls', max))
    this.#waiting = new Used(new Limit('upstreamCalls', max))
  }

  get total (): number { return this.#asking.total + this.#waiting.total }

  /** Throws a CallError, `busy`, if all places are taken, or the share of the holder is. */
  take (holder: Holder | undefined): Place {
    return new Place(this.#asking, this.#waiting, holder)
  }
}

export class Place {
  readonly #asking: Used
  readonly #waiting: Used
  readonly #holder: Holder | undefined
  #free: () => void

  constructor (asking: Used, waiting: Used, holder: Holder | undefined) {
    this.#asking = asking
    this.#waiting = waiting
    this.#holder = holder
    this.#free = this.#in(asking)
  }

  beginWaiting (): void { this.#move(this.#waiting) }

  endWaiting (): void { this.#move(this.#asking) }

  free (): void {
    this.#free()
    this.#free = () => {}
  }

  #move (to: Used): void {
    this.free()
    this.#free = this.#in(to)
  }

  #in (used: Used): () => void {
    const refusal = used.findRefusal(this.#holder)
    if (refusal !== undefined) throw new CallError('busy', refusal)
    return used.add(this.#holder)
  }
}

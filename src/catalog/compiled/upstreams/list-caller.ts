// The `list` of a resource template, as the caller of upstreams. It acts for nobody.

import type { Sender } from '../../../platform/limits/holder.ts'
import type { AbortCall, UpstreamCaller } from './open-upstream.ts'

const NOBODY: Sender = { principal: Object.freeze({ scopes: new Set<string>() }) }

export class ListCaller implements UpstreamCaller {
  readonly sender = NOBODY
  readonly isService = true
  /** A call ends with its list. */
  readonly leftMs = Infinity
  readonly #running = new Set<AbortCall>()
  #isOver = false

  begin (abort: AbortCall): () => void {
    if (this.#isOver) throw new Error('fetch: the list has ended; await every call in it')
    this.#running.add(abort)
    return () => this.#running.delete(abort)
  }

  note (): void {}

  span (): undefined {}

  end (): void {
    this.#isOver = true
    for (const abort of this.#running) abort(undefined)
  }
}

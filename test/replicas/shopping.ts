// What clients do all day, and a ledger of what was acknowledged to them.

import type { ShopClient } from './shop-client.ts'

const BOOKS = ['moby-dick', 'frankenstein', 'dracula', 'candide', 'walden']
const MAX_QUANTITY = 3

/** A number from 0 to below 1. */
type Random = () => number

export class Shopping {
  /** By basket and book. */
  readonly acknowledged: ReadonlyMap<string, Map<string, number>>
  /** How many additions. */
  count = 0
  /** From the first request for an addition to its acknowledgement. */
  longestMs = 0
  readonly client: ShopClient
  readonly #baskets: readonly string[]

  constructor (client: ShopClient, baskets: readonly string[]) {
    this.client = client
    this.#baskets = baskets
    this.acknowledged = new Map(baskets.map((basket) => [basket, new Map()]))
  }

  /**
   * Makes one addition after the other, each until it is acknowledged. Throws where one is answered as it
   * must not be.
   */
  async shop (name: string, random: Random, signal: AbortSignal): Promise<void> {
    for (let n = 1; !signal.aborted; n++) {
      const basketId = pick(this.#baskets, random)
      const bookId = pick(BOOKS, random)
      const quantity = 1 + Math.floor(random() * MAX_QUANTITY)
      const begun = performance.now()
      await this.client.insist('add_to_basket', { basketId, bookId, quantity, requestId: `${name}-${n}` })
      this.longestMs = Math.max(this.longestMs, performance.now() - begun)
      this.count++
      const basket = this.acknowledged.get(basketId)
      basket?.set(bookId, (basket.get(bookId) ?? 0) + quantity)
    }
  }
}

/** Mulberry32: the same numbers for the same seed. */
export function createRandom (seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<T> (choices: readonly T[], random: Random): T {
  const choice = choices[Math.floor(random() * choices.length)]
  if (choice === undefined) throw new TypeError('there is nothing to choose from')
  return choice
}

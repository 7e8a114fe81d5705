// How much is kept of results, by all callers of this replica and by each of them. The oldest remainder gives
// way to a new one: one of the same caller while the share of the caller is used.

import { holderOf, type Holder, type Sender } from '../../platform/limits/holder.ts'
import { Limit, LIMITS, withinHeap } from '../../platform/limits/limits.ts'
import { Used } from '../../platform/limits/used.ts'

interface Remainder {
  readonly holder: Holder | undefined
  readonly uncount: () => void
  readonly remove: () => void
}

/** A store in memory has the remainders in the heap. */
const HEAP_DIVISOR = 8
/** The bytes of a character in the heap, and those of a record beside its text. */
const [CHARACTER_BYTES, RECORD_BYTES] = [2, 4096]

/** @param max in bytes, for all callers together. */
export function createRemainderRoom (max = withinHeap(LIMITS.remainderBytes.max, HEAP_DIVISOR)) {
  const limit = new Limit('remainderBytes', max)
  const used = new Used(limit)
  /** Oldest first. */
  const remainders = new Set<Remainder>()

  function drop (remainder: Remainder): void {
    if (!remainders.delete(remainder)) return
    remainder.uncount()
    remainder.remove()
  }

  return {
    /**
     * Counts a remainder, once older ones have given way. Returns a function that drops it.
     * @param length in characters.
     * @param remove deletes what is kept of it.
     */
    add (sender: Sender, length: number, remove: () => void): () => void {
      const holder = holderOf(sender)
      for (const remainder of remainders) {
        const isShareUsed = holder !== undefined && used.isShareUsed(holder)
        if (!isShareUsed && used.total < limit.max) break
        if (!isShareUsed || remainder.holder?.name === holder.name) drop(remainder)
      }
      const uncount = used.add(holder, CHARACTER_BYTES * length + RECORD_BYTES)
      const remainder = { holder, uncount, remove }
      remainders.add(remainder)
      return () => drop(remainder)
    }
  }
}

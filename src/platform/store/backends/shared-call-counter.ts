// The call counter of all replicas. While the server is away, each replica counts its own calls: those that
// the server admitted count too, so a replica never admits more than the rate.

import { hash } from 'node:crypto'
import type { CallCounter, CountedRate } from '../../limits/call-counter.ts'
import type { LocalCallCounter } from '../../limits/local-call-counter.ts'

/**
 * How long a call may wait for its count, in milliseconds. Much shorter than the time of other requests: the
 * tool may then wait for its state, and fails within two seconds all the same.
 */
export const COUNT_MS = 300

/** A rate that allows no call now, by its place among the rates of the call. */
export interface UsedPlace { readonly place: number, readonly waitMs: number }

interface SharedCallCounterOptions {
  /** Counts while the server does not. */
  readonly local: LocalCallCounter
  /** Called with each error of `ask`. */
  onError (error: unknown): void
  /** Counts a call on the server, or says why it does not. */
  ask (rates: readonly CountedRate[]): Promise<UsedPlace | undefined>
}

export function createSharedCallCounter ({ local, onError, ask }: SharedCallCounterOptions): CallCounter {
  return {
    async count (rates) {
      try {
        const used = await ask(rates)
        if (used === undefined) {
          local.note(rates)
          return undefined
        }
        const rate = rates[used.place]
        if (rate === undefined) throw new TypeError('the answer of the store is no used rate')
        return { rate, waitMs: used.waitMs }
      } catch (error) {
        onError(error)
        return local.count(rates)
      }
    }
  }
}

/** Returns the key of a rate on the server: a hash, because the key may have an address. */
export function toSharedKey ({ key }: CountedRate): string { return hash('sha256', key, 'base64url') }

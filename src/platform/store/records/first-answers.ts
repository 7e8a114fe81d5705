// The answers of calls, kept so that a repeated call gets the first one, on any replica. While a call runs,
// its repetitions wait. Only the store measures time: the clocks of replicas differ.

import { ownerOf } from '../../access/principal.ts'
import { clock, timers } from '../../../base/time.ts'
import { networkOf, type Sender } from '../../limits/holder.ts'
import { Limit, ShareUsed } from '../../limits/limits.ts'
import { isAnswer, readAnswerRecord, toHash, toAnswerValue, type Head } from './answer-record.ts'
import { newMark, retryOutage } from './lost-replies.ts'
import { createShares } from './shares.ts'
import type { StateKey, StateStore } from './state-store.ts'

export interface FirstAnswer { readonly result: string, readonly isError: boolean }

/** A call that may be repeated. */
export interface Repeatable {
  readonly sender: Sender
  /** Equal for calls that are the same one, among those of one sender. */
  readonly key: unknown
  /** What repetitions must have in common beside the key. */
  readonly args: unknown
  /** The longest time that the call may take, in milliseconds. */
  readonly timeoutMs: number
  /** Called if the answer of the call is not kept. The cause is for the log. */
  onUnkept (cause: Error): void
}

/** The caller must run the call, and then call one of the two. */
export interface FirstRun {
  /**
   * Resolves to the answer of the call: another one if another run of the same call has ended before. Rejects
   * with a StoreUnavailable if it is not known whether the answer is kept.
   */
  keep (answer: FirstAnswer): Promise<FirstAnswer>
  /** Lets the next repetition run. Does not reject. */
  drop (): Promise<void>
}

export type FirstAnswers = ReturnType<typeof createFirstAnswers>

/** The key belongs to a call with other arguments. */
export class KeyReused extends Error {}

/** The record of a running call expires this long after its last use, in milliseconds. */
export const LEASE_MS = 15_000
/** How often the runner uses the record. */
const RENEW_EVERY_MS = LEASE_MS / 3
/** How long an answer is kept, in milliseconds. */
const KEEP_MS = 60_000
/** A record of this lifetime is gone at once. */
const GONE = { idleMs: 1 }
/** Longer answers are not kept, in characters. */
const MAX_LENGTH = 65_536
/** Calls beyond the limit run, and their answers are not kept. */
const LIMIT = new Limit('firstAnswers')
const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 500
/** The pauses after lost replies, in milliseconds. */
const LOST_REPLY = { firstMs: 50, maxMs: 500 }
/** How long a lost connection is tried again before a call is refused, in milliseconds. */
const BEGIN_FOR_MS = 1000
/** An answer is there already: it is worth a longer wait. */
const KEEP_FOR_MS = LEASE_MS

/** The place of a call in the store, and the network that uses its share for it. */
interface Slot extends Pick<Repeatable, 'timeoutMs' | 'onUnkept'> {
  readonly network: string | undefined
  readonly key: StateKey
}

export function createFirstAnswers (store: StateStore) {
  const shares = createShares(store, 'answers', LIMIT.shareOf('network'))

  /** `undefined` if another request runs the call, if its answer is kept, or if the lease ends soon. */
  async function create (slot: Slot, head: Head): Promise<FirstRun | undefined> {
    const lifetime = { idleMs: LEASE_MS, placeMs: slot.timeoutMs + KEEP_MS }
    let usedAt = 0
    const created = await insist(BEGIN_FOR_MS, async () => {
      usedAt = clock.monotonic()
      return await shares.create(slot.network, slot.key, toAnswerValue(head), lifetime, LIMIT.max)
    })
    if (created === 'taken') return undefined
    if (created !== 'full') return isFresh(usedAt) ? toFirstRun(slot, head, created.version) : undefined
    slot.onUnkept(new Error(LIMIT.describe('principal')))
    return UNKEPT
  }

  /** Resolves to `undefined` if the call has not ended. */
  async function find (slot: Slot, head: Head): Promise<FirstAnswer | FirstRun | undefined> {
    const record = await insist(BEGIN_FOR_MS, async () => await store.peek(slot.key))
    if (record === undefined) return await create(slot, head)
    const { head: stored, result } = readAnswerRecord(record.value.bytes)
    if (stored === undefined || stored.state === 'dropped') return undefined
    // The write whose reply was lost was done.
    if (stored.mark === head.mark) return await resume(slot, head, record.version)
    if (stored.args !== head.args) throw new KeyReused()
    // The writer of the answer may not have learnt that it is durable.
    const isKept = isAnswer(stored) && await insist(BEGIN_FOR_MS, async () => (
      await store.confirm(slot.key, record.version)
    ))
    return isKept ? toAnswer(stored, result) : undefined
  }

  /** Begins the lease of the own record again. `undefined` if it was too late. */
  async function resume (slot: Slot, head: Head, version: string): Promise<FirstRun | undefined> {
    const usedAt = clock.monotonic()
    const record = await insist(BEGIN_FOR_MS, async () => await store.read(slot.key))
    return record?.version === version && isFresh(usedAt) ? toFirstRun(slot, head, version) : undefined
  }

  /** Keeps the lease of the record until the call has ended. @param created the version of the record. */
  function toFirstRun (slot: Slot, head: Head, created: string): FirstRun {
    const { network, key, onUnkept } = slot
    const renewal = timers.setInterval(() => { renew().catch(() => {}) }, RENEW_EVERY_MS).unref()

    /** A read is a use: the lease begins again. */
    async function renew (): Promise<void> {
      const record = await store.read(key)
      if (record && readAnswerRecord(record.value.bytes).head?.mark !== head.mark) timers.clear(renewal)
    }

    /** Keeps the answer of the run that writes first, also if it has lost its lease. Returns that answer. */
    async function write (answer: FirstAnswer): Promise<FirstAnswer> {
      const value = toAnswerValue({ ...head, state: answer.isError ? 'error' : 'ok' }, answer.result)
      const lifetime = { idleMs: KEEP_MS }
      if (await store.replace(key, created, value, lifetime) !== undefined) return answer
      for (;;) {
        const record = await store.peek(key)
        if (record === undefined) {
          const outcome = await shares.create(network, key, value, lifetime, LIMIT.max)
          if (outcome === 'taken') continue
          if (outcome === 'full') onUnkept(new Error(LIMIT.describe('principal')))
          return answer
        }
        const { head: stored, result } = readAnswerRecord(record.value.bytes)
        if (stored?.args !== head.args) {
          onUnkept(new Error('the lease was lost, and a call with other arguments has the key'))
          return answer
        }
        if (!isAnswer(stored)) {
          if (await store.replace(key, record.version, value, lifetime) !== undefined) return answer
        } else if (await store.confirm(key, record.version)) {
          // Also the own answer, if the reply to its write was lost: it may not be durable yet.
          return toAnswer(stored, result)
        }
      }
    }

    async function drop (): Promise<void> {
      timers.clear(renewal)
      const value = toAnswerValue({ ...head, state: 'dropped' })
      // Not a deletion: another run may have the record. If the store is away, the lease ends by itself.
      const dropped = await insist(BEGIN_FOR_MS, async () => await store.replace(key, created, value, GONE))
        .catch(() => undefined)
      if (dropped !== undefined) await shares.free(network, key)
    }

    return {
      async keep (answer) {
        if (answer.result.length > MAX_LENGTH) {
          onUnkept(new Error(`the answer has more than ${MAX_LENGTH} characters`))
          await drop()
          return answer
        }
        try {
          return await insist(KEEP_FOR_MS, async () => await write(answer))
        } catch (error) {
          if (!(error instanceof ShareUsed)) throw error
          onUnkept(error)
          return answer
        } finally {
          timers.clear(renewal)
        }
      },
      drop
    }
  }

  return {
    /**
     * Resolves to the answer of the same call, when it has ended. Rejects with a KeyReused, with a
     * StoreUnavailable, or when the signal aborts.
     * @param signal called when the call begins to wait for another one.
     */
    async begin (call: Repeatable, signal: () => AbortSignal): Promise<FirstAnswer | FirstRun> {
      const slot = toSlot(call)
      const head: Head = { args: toHash(call.args), mark: newMark(), state: 'runs' }
      try {
        let run = await create(slot, head) ?? await find(slot, head)
        for (let ms = FIRST_PAUSE_MS; run === undefined; ms = Math.min(MAX_PAUSE_MS, 2 * ms)) {
          await timers.pause(ms, { signal: signal() })
          run = await find(slot, head)
        }
        return run
      } catch (error) {
        if (!(error instanceof ShareUsed)) throw error
        call.onUnkept(error)
        return UNKEPT
      }
    }
  }
}

/** The call runs and nothing is kept: nobody learns of its answer. */
const UNKEPT: FirstRun = { keep: async (answer) => answer, async drop () {} }

/** Whether the lease lasts until it is renewed: the process may have been paused after the use. */
function isFresh (usedAt: number): boolean { return clock.monotonic() < usedAt + RENEW_EVERY_MS }

async function insist<T> (forMs: number, work: () => Promise<T>): Promise<T> {
  return await retryOutage(work, { ...LOST_REPLY, forMs })
}

function toSlot ({ sender, key, timeoutMs, onUnkept }: Repeatable): Slot {
  const { principal, principal: { scopes } } = sender
  const network = networkOf(sender)
  const name = toHash([network, [...scopes].toSorted(), key])
  return { network, timeoutMs, onUnkept, key: { owner: `answers-${ownerOf(principal)}`, name } }
}

function toAnswer ({ state }: Head, result: string): FirstAnswer {
  return { result, isError: state === 'error' }
}

// The answers of calls, kept so that a repeated call gets the first one, on any replica. While a call runs,
// its repetitions wait.

import { createHash } from 'node:crypto'
import { ownerOf } from '../../access/principal.ts'
import { clock, timers } from '../../base/time.ts'
import { networkOf, type Sender } from '../../limits/holder.ts'
import { Limit, ShareUsed } from '../../limits/limits.ts'
import { createShares } from './shares.ts'
import { StoreUnavailable, type StateKey, type StateRecord, type StateStore } from './state-store.ts'

export interface FirstAnswer { readonly result: string, readonly isError: boolean }

/** A call that may be repeated. */
export interface Repeatable {
  readonly sender: Sender
  /** Equal for calls that are the same one, among those of one sender. */
  readonly key: unknown
  /** What repetitions must have in common beside the key. */
  readonly args: unknown
  /** The call has ended after this time, in milliseconds. */
  readonly timeoutMs: number
}

/** The caller must run the call, and then call one of the two. Neither rejects. */
export interface FirstRun {
  keep (answer: FirstAnswer): Promise<void>
  /** Lets the next repetition run. */
  drop (): Promise<void>
}

export interface FirstAnswers {
  /**
   * Resolves to the answer of the same call, when it has ended. Rejects with a KeyReused, or when the signal
   * aborts.
   */
  begin (call: Repeatable, signal: () => AbortSignal): Promise<FirstAnswer | FirstRun>
}

/** The key belongs to a call with other arguments. */
export class KeyReused extends Error {}

/** How long an answer is kept at least, in milliseconds. */
const KEEP_MS = 60_000
/** A replica may end a call this much after its time limit. Clocks of replicas may differ by as much. */
const MARGIN_MS = 2000
/** Longer answers are not kept, in characters. */
const MAX_LENGTH = 65_536
/** Calls beyond the limit run, and their answers are not kept. */
const LIMIT = new Limit('firstAnswers')
const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 500

/** The call runs and nothing is kept: nobody learns of its answer. */
const UNKEPT: FirstRun = { async keep () {}, async drop () {} }

/** Where the answer of a call is kept, and which network uses its share for it. */
interface Slot { readonly network: string | undefined, readonly key: StateKey, readonly timeoutMs: number }

/** The first line of a record, as JSON. The answer follows it. */
interface Head { readonly args: string, readonly endsBy: number, readonly state: 'runs' | 'ok' | 'error' }

export function createFirstAnswers (store: StateStore, now: () => number = clock.now): FirstAnswers {
  const shares = createShares(store, 'answers', LIMIT.shareOf('network'))

  /** `undefined` if another request runs the call, or its answer is kept. */
  async function create (slot: Slot, head: Head): Promise<FirstRun | undefined> {
    const lifetime = { idleMs: slot.timeoutMs + KEEP_MS, endsAt: head.endsBy + KEEP_MS }
    const created = await shares.create(slot.network, slot.key, toValue(head), lifetime, LIMIT.max)
    if (created === 'taken') return undefined
    return created === 'full' ? UNKEPT : toFirstRun(slot, head, created)
  }

  /** The replica that ran the call may be gone. Of several that take it over, one succeeds. */
  async function takeOver (slot: Slot, head: Head, { version }: StateRecord): Promise<FirstRun | undefined> {
    const record = await store.replace(slot.key, version, toValue(head))
    return record && toFirstRun(slot, head, record)
  }

  function toFirstRun ({ network, key }: Slot, head: Head, { version }: StateRecord): FirstRun {
    const drop = async () => { await shares.delete(network, key).catch(() => {}) }
    return {
      async keep ({ result, isError }) {
        if (result.length > MAX_LENGTH) return await drop()
        const value = toValue({ ...head, state: isError ? 'error' : 'ok' }, result)
        await store.replace(key, version, value).catch(() => {})
      },
      drop
    }
  }

  async function begin (call: Repeatable, signal: () => AbortSignal): Promise<FirstAnswer | FirstRun> {
    const slot = toSlot(call)
    const args = toHash(call.args)
    const newHead = (): Head => ({ args, endsBy: now() + call.timeoutMs + MARGIN_MS, state: 'runs' })
    let run = await create(slot, newHead())
    for (let pauseMs = FIRST_PAUSE_MS; run === undefined; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      const record = await store.read(slot.key)
      if (record === undefined) run = await create(slot, newHead())
      else {
        const { head, result } = readValue(record.value.bytes)
        if (head.args !== args) throw new KeyReused()
        if (head.state !== 'runs') return { result, isError: head.state === 'error' }
        if (head.endsBy < now()) run = await takeOver(slot, newHead(), record)
      }
      if (run === undefined) await timers.pause(pauseMs, { signal: signal() })
    }
    return run
  }

  return {
    async begin (call, signal) {
      try {
        return await begin(call, signal)
      } catch (error) {
        // A call that may be repeated may also run twice.
        if (error instanceof StoreUnavailable || error instanceof ShareUsed) return UNKEPT
        throw error
      }
    }
  }
}

function toSlot ({ sender, key, timeoutMs }: Repeatable): Slot {
  const { principal, principal: { scopes } } = sender
  const network = networkOf(sender)
  const name = toHash([network, [...scopes].toSorted(), key])
  return { network, timeoutMs, key: { owner: `answers-${ownerOf(principal)}`, name } }
}

function toHash (value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value) ?? '').digest('base64url')
}

function toValue (head: Head, result = ''): { readonly bytes: Buffer } {
  return { bytes: Buffer.from(`${JSON.stringify(head)}\n${result}`) }
}

function readValue (bytes: Buffer): { readonly head: Head, readonly result: string } {
  const text = bytes.toString()
  const end = text.indexOf('\n')
  return { head: JSON.parse(text.slice(0, end)), result: text.slice(end + 1) }
}

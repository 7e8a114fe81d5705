// The answers of calls, kept so that a repeated call gets the first one, on any replica. While a call runs,
// its repetitions wait.

import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { networkOf, type Sender } from '../access/network.ts'
import { ownerOf } from '../access/principal.ts'
import { shareOf, ShareUsed } from '../access/share.ts'
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
/** Of one owner. Calls beyond it run as if they could not be repeated. */
const MAX_ANSWERS = 1000
const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 500

/** The call runs and nothing is kept: nobody learns of its answer. */
const UNKEPT: FirstRun = { async keep () {}, async drop () {} }

/** A record is one line of JSON, and the answer after it. */
interface Head { readonly args: string, readonly endsBy: number, readonly state: 'runs' | 'ok' | 'error' }

export function createFirstAnswers (store: StateStore, now: () => number = Date.now): FirstAnswers {
  const shares = createShares(store, { purpose: 'answers', share: shareOf(MAX_ANSWERS) })

  /** `undefined` if another request runs the call, or its answer is kept. */
  async function take (
    { sender, timeoutMs }: Repeatable, key: StateKey, head: Head
  ): Promise<FirstRun | undefined> {
    const network = networkOf(sender)
    const lifetime = { idleMs: timeoutMs + KEEP_MS, endsAt: head.endsBy + KEEP_MS }
    const created = await shares.create(network, key, toValue(head), lifetime, MAX_ANSWERS)
    if (created === 'taken') return undefined
    return created === 'full' ? UNKEPT : toFirstRun(network, key, head, created)
  }

  function toFirstRun (
    network: string | undefined, key: StateKey, head: Head, { version }: StateRecord
  ): FirstRun {
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
    const key = toKey(call)
    const args = toHash(call.args)
    const network = networkOf(call.sender)
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      const own: Head = { args, endsBy: now() + call.timeoutMs + MARGIN_MS, state: 'runs' }
      const run = await take(call, key, own)
      if (run !== undefined) return run
      const record = await store.read(key)
      if (record === undefined) continue
      const { head, result } = readValue(record.value.bytes)
      if (head.args !== args) throw new KeyReused()
      if (head.state !== 'runs') return { result, isError: head.state === 'error' }
      // The replica that ran the call may be gone. Of several that take it over, one succeeds.
      const taken = head.endsBy < now() ? await store.replace(key, record.version, toValue(own)) : undefined
      if (taken !== undefined) return toFirstRun(network, key, own, taken)
      await pause(pauseMs, undefined, { signal: signal() })
    }
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

function toKey ({ sender, key }: Repeatable): StateKey {
  const { principal, principal: { scopes } } = sender
  const name = toHash([networkOf(sender), [...scopes].toSorted(), key])
  return { owner: `answers-${ownerOf(principal)}`, name }
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

// Removes records whose creation was not confirmed. Such a record may exist: nobody knows its id, but it
// counts against the limit of its owner.

import { timers } from '../../base/time.ts'
import type { StateKey, StateRecord, StateStore } from './state-store.ts'

/** The pauses before the attempts. A delayed write may be applied after the first of them. */
const PAUSES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000]
/** In a long outage further records are left to expire. */
const MAX_PENDING = 1000

export type Removals = ReturnType<typeof createRemovals>

/** Whether the record is the one whose creation was not confirmed. */
type IsOwn = (record: StateRecord) => boolean

/** @param pausesMs replaces PAUSES_MS in tests. */
export function createRemovals (store: StateStore, pausesMs: readonly number[] = PAUSES_MS) {
  /** The latest removal of each key. */
  const pending = new Map<string, symbol>()

  async function remove (key: StateKey, removal: symbol, isOwn: IsOwn | undefined): Promise<void> {
    for (const ms of pausesMs) {
      await timers.pause(ms, { ref: false })
      if (pending.get(toText(key)) !== removal) return
      if (await (isOwn === undefined ? store.delete(key) : removeOwn(key, isOwn)).catch(() => false)) return
    }
  }

  /** Lets the record expire at once: a record of this version is not another one. */
  async function removeOwn (key: StateKey, isOwn: IsOwn): Promise<boolean> {
    const record = await store.peek(key)
    if (record === undefined || !isOwn(record)) return false
    return await store.replace(key, record.version, record.value, { idleMs: 1 }) !== undefined
  }

  return {
    /**
     * Deletes the record in the background, if it exists or begins to exist within a minute.
     * @param isOwn needed if others may create a record of the same name.
     */
    add (key: StateKey, isOwn?: IsOwn): void {
      if (pending.size >= MAX_PENDING) return
      const removal = Symbol('removal')
      pending.set(toText(key), removal)
      remove(key, removal, isOwn).finally(() => {
        if (pending.get(toText(key)) === removal) pending.delete(toText(key))
      })
    },
    /** Gives up the removal: the record is created once more. Call it before the first pause is over. */
    giveUp (key: StateKey): void { pending.delete(toText(key)) }
  }
}

const toText = ({ owner, name }: StateKey): string => `${owner}/${name}`

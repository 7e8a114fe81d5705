// Removes records whose creation was not confirmed. Such a record may exist: nobody knows its id, but it
// counts against the limit of its owner.

import { timers } from '../../base/time.ts'
import type { StateKey, StateStore } from './state-store.ts'

/** The pauses before the attempts. A delayed write may be applied after the first of them. */
const PAUSES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000]
/** In a long outage further records are left to expire. */
const MAX_PENDING = 1000

export type Removals = ReturnType<typeof createRemovals>

/** @param pausesMs replaces PAUSES_MS in tests. */
export function createRemovals (store: StateStore, pausesMs: readonly number[] = PAUSES_MS) {
  let pending = 0

  async function remove (key: StateKey): Promise<void> {
    for (const ms of pausesMs) {
      await timers.pause(ms, { ref: false })
      if (await store.delete(key).catch(() => false)) return
    }
  }

  return {
    /** Deletes the record in the background, if it exists or begins to exist within a minute. */
    add (key: StateKey): void {
      if (pending >= MAX_PENDING) return
      pending++
      remove(key).finally(() => { pending-- })
    }
  }
}

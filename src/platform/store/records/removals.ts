// Removes records whose creation was not confirmed. Such a record may exist: nobody knows its id, but it
// counts against the limit of its owner.

import { timers } from '../../../base/time.ts'
import type { StateKey, StateRecord, StateStore } from './state-store.ts'

/** The pauses before the attempts. A delayed write may be applied after the first of them. */
const PAUSES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000]
/** In a long outage further records are left to expire. */
const MAX_PENDING = 1000

export type Removals = ReturnType<typeof createRemovals>

/** Whether the record is to be removed. */
type IsUnwanted = (record: StateRecord) => boolean | Promise<boolean>

/** @param pausesMs replaces PAUSES_MS in tests. */
export function createRemovals (store: StateStore, pausesMs: readonly number[] = PAUSES_MS) {
  let pending = 0

  async function remove (key: StateKey, isUnwanted: IsUnwanted | undefined): Promise<void> {
    for (const ms of pausesMs) {
      await timers.pause(ms, { ref: false })
      const removing = isUnwanted === undefined ? store.delete(key) : removeIf(key, isUnwanted)
      if (await removing.catch(() => false)) return
    }
  }

  /**
   * Lets the record expire at once, if it is unwanted: another one of its name has another version. Resolves
   * to whether it did.
   */
  async function removeIf (key: StateKey, isUnwanted: IsUnwanted): Promise<boolean> {
    const record = await store.peek(key)
    if (record === undefined || !await isUnwanted(record)) return false
    return await store.replace(key, record.version, record.value, { idleMs: 1 }) !== undefined
  }

  /**
   * Deletes the record in the background, if it exists or begins to exist within a minute.
   * @param isUnwanted needed if a record of this name may be created once more.
   */
  function add (key: StateKey, isUnwanted?: IsUnwanted): void {
    if (pending >= MAX_PENDING) return
    pending++
    remove(key, isUnwanted).finally(() => { pending-- })
  }

  return {
    add,
    removeIf,
    /** Removes the record if it is unwanted: now, or in the background if the store is away. */
    async removeNow (key: StateKey, isUnwanted: IsUnwanted): Promise<void> {
      await removeIf(key, isUnwanted).catch(() => add(key, isUnwanted))
    },
    /** Removes the record once it is unwanted: now, or in the background. */
    async removeSoon (key: StateKey, isUnwanted: IsUnwanted): Promise<void> {
      if (!await removeIf(key, isUnwanted).catch(() => false)) add(key, isUnwanted)
    }
  }
}

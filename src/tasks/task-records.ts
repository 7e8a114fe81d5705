// The records of tasks in the store, each under its owner: tasks of others look like tasks that do not exist.
// They are sealed: a record has arguments and claims, and its handler runs with the rights in it.

import { ownerOf, type Principal } from '../access/principal.ts'
import { random } from '../base/time.ts'
import { shareOf, ShareUsed } from '../limits/share.ts'
import { tooManyKeptTasks, tooManyTasks, tooManyTasksOfAddress } from '../protocol/errors.ts'
import { createShares, EMPTY_VALUE } from '../store/records/shares.ts'
import type { StateKey, StateStore, StateValue } from '../store/records/state-store.ts'
import type { Sealer } from '../store/sealing/sealer.ts'
import { endOf, lifetimeOf, readTaskBytes, toTaskBytes, type TaskRecord } from './task-record.ts'

/** A record as it was read. */
export interface StoredTask { readonly record: TaskRecord, readonly version: string }

/** Names one task. */
export interface TaskKey {
  readonly id: string
  readonly state: StateKey
  /** The same as one text. */
  readonly entry: string
}

export interface TaskRecords {
  /** `undefined` for a text that is no id of a task. */
  keyOf (principal: Principal, id: string): TaskKey | undefined
  newKey (principal: Principal): TaskKey
  /** Rejects with the error for the limit that the caller has reached. */
  create (key: TaskKey, record: TaskRecord): Promise<StoredTask>
  /** The task has ended, and counts no more as an unfinished one. */
  release (key: TaskKey, record: TaskRecord): Promise<void>
  /** `undefined` also if the secret that sealed the record is none of the present ones. */
  read (key: TaskKey): Promise<StoredTask | undefined>
  /** `undefined` if the record was changed or dropped since it was read. */
  replace (key: TaskKey, version: string, record: TaskRecord): Promise<StoredTask | undefined>
}

/** 128 random bits, which cannot be guessed. */
const ID_BYTES = 16
const PURPOSE = 'task'
const ID = /^task_[A-Za-z0-9_-]{22}$/

interface TaskRecordsOptions {
  readonly sealer: Sealer
  /** How many unfinished tasks one owner may have. */
  readonly maxPerOwner: number
}

/** How many tasks one owner may have in all, for each unfinished one. */
const KEPT_FACTOR = 10

export function createTaskRecords (
  store: StateStore, { sealer, maxPerOwner }: TaskRecordsOptions
): TaskRecords {
  const shares = createShares(store, { purpose: 'tasks', share: shareOf(maxPerOwner) })
  const maxKept = KEPT_FACTOR * maxPerOwner
  // Handles have a limit of their own, so tasks have another owner.
  const toKey = (principal: Principal, id: string) => keyFrom(`tasks-${ownerOf(principal)}/${id}`)

  /** Sealed for its key, so that no record can take the place of another one. */
  function toValue ({ entry }: TaskKey, record: TaskRecord): StateValue {
    return { bytes: Buffer.from(sealer.seal(PURPOSE, entry, toTaskBytes(record), endOf(record)), 'latin1') }
  }

  /** An empty record, as long as the task has not ended. */
  const toPlace = ({ id, state }: TaskKey): StateKey => ({ owner: `open-${state.owner}`, name: id })

  async function free (key: TaskKey, { network }: TaskRecord): Promise<void> {
    await shares.delete(network, toPlace(key))
  }

  async function takePlace (key: TaskKey, { network, createdAt, ttlMs }: TaskRecord): Promise<void> {
    const lifetime = { idleMs: ttlMs, endsAt: createdAt + ttlMs }
    const taken = await shares.create(network, toPlace(key), EMPTY_VALUE, lifetime, maxPerOwner)
      .catch((error: unknown) => { throw error instanceof ShareUsed ? tooManyTasksOfAddress() : error })
    if (taken === 'full') throw tooManyTasks(maxPerOwner)
  }

  return {
    keyOf: (principal, id) => ID.test(id) ? toKey(principal, id) : undefined,
    newKey: (principal) => toKey(principal, `task_${random.name(ID_BYTES)}`),
    async create (key, record) {
      await takePlace(key, record)
      const lifetime = { idleMs: lifetimeOf(record), endsAt: endOf(record) }
      const creating = store.create(key.state, toValue(key, record), lifetime, maxKept)
      const created = await creating.catch(async (error: unknown) => {
        // The place would count until the time of the task is over.
        await free(key, record).catch(() => {})
        throw error
      })
      if (created === 'taken') {
        throw new Error('the id of a new task is taken: the source of random numbers is broken')
      }
      if (created !== 'full') return { record, version: created.version }
      await free(key, record)
      throw tooManyKeptTasks(maxKept)
    },
    release: free,
    async read ({ state, entry }) {
      const found = await store.read(state)
      const bytes = found && sealer.open(PURPOSE, entry, found.value.bytes.toString('latin1'))
      return bytes && { record: readTaskBytes(bytes), version: found.version }
    },
    async replace (key, version, record) {
      const replaced = await store.replace(key.state, version, toValue(key, record))
      return replaced && { record, version: replaced.version }
    }
  }
}

/** @param entry the text of a key. */
export function keyFrom (entry: string): TaskKey {
  const slash = entry.indexOf('/')
  const id = entry.slice(slash + 1)
  return { id, entry, state: { owner: entry.slice(0, slash), name: id } }
}

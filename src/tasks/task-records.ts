// The records of tasks in the store, each under its owner: tasks of others look like tasks that do not exist.
// They are sealed: a record has arguments and claims, and its handler runs with the rights in it.

import { randomBytes } from 'node:crypto'
import { networkOf, type Sender } from '../access/network.ts'
import { ownerOf, type Principal } from '../access/principal.ts'
import { shareOf } from '../access/share.ts'
import type { Sealer } from '../sealing/sealer.ts'
import { createShares } from '../state/shares.ts'
import type { StateKey, StateStore, StateValue } from '../state/state-store.ts'
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
  /** `full` if the owner has too many tasks. Rejects with ShareUsed if the sender's network has. */
  create (key: TaskKey, record: TaskRecord, sender: Sender): Promise<StoredTask | 'full'>
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
  readonly maxPerOwner: number
}

export function createTaskRecords (
  store: StateStore, { sealer, maxPerOwner }: TaskRecordsOptions
): TaskRecords {
  const shares = createShares(store, { purpose: 'tasks', share: shareOf(maxPerOwner) })
  // Handles have a limit of their own, so tasks have another owner.
  const toKey = (principal: Principal, id: string) => keyFrom(`tasks-${ownerOf(principal)}/${id}`)

  /** Sealed for its key, so that no record can take the place of another one. */
  function toValue ({ entry }: TaskKey, record: TaskRecord): StateValue {
    return { bytes: Buffer.from(sealer.seal(PURPOSE, entry, toTaskBytes(record), endOf(record)), 'latin1') }
  }

  return {
    keyOf: (principal, id) => ID.test(id) ? toKey(principal, id) : undefined,
    newKey: (principal) => toKey(principal, `task_${randomBytes(ID_BYTES).toString('base64url')}`),
    async create (key, record, sender) {
      const lifetime = { idleMs: lifetimeOf(record), endsAt: endOf(record) }
      const created = await shares.create(
        networkOf(sender), key.state, toValue(key, record), lifetime, maxPerOwner
      )
      if (created === 'taken') {
        throw new Error('the id of a new task is taken: the source of random numbers is broken')
      }
      return created === 'full' ? created : { record, version: created.version }
    },
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

// The records of tasks in the store, each under its owner: tasks of others look like tasks that do not exist.

import { randomBytes } from 'node:crypto'
import { networkOf, type Sender } from '../access/network.ts'
import { ownerOf, type Principal } from '../access/principal.ts'
import { shareOf } from '../access/share.ts'
import { createShares } from '../state/shares.ts'
import type { StateKey, StateStore } from '../state/state-store.ts'
import { lifetimeOf, readTaskBytes, toTaskBytes, type TaskRecord } from './task-record.ts'

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
  read (key: TaskKey): Promise<StoredTask | undefined>
  /** `undefined` if the record was changed or dropped since it was read. */
  replace (key: TaskKey, version: string, record: TaskRecord): Promise<StoredTask | undefined>
}

/** 128 random bits, which cannot be guessed. */
const ID_BYTES = 16
const ID = /^task_[A-Za-z0-9_-]{22}$/

export function createTaskRecords (store: StateStore, maxPerOwner: number): TaskRecords {
  const shares = createShares(store, { purpose: 'tasks', share: shareOf(maxPerOwner) })
  // Handles have a limit of their own, so tasks have another owner.
  const toKey = (principal: Principal, id: string) => keyFrom(`tasks-${ownerOf(principal)}/${id}`)
  return {
    keyOf: (principal, id) => ID.test(id) ? toKey(principal, id) : undefined,
    newKey: (principal) => toKey(principal, `task_${randomBytes(ID_BYTES).toString('base64url')}`),
    async create ({ state }, record, sender) {
      const idleMs = lifetimeOf(record)
      const created = await shares.create(
        networkOf(sender), state, { bytes: toTaskBytes(record) },
        { idleMs, endsAt: record.createdAt + idleMs }, maxPerOwner
      )
      if (created === 'taken') {
        throw new Error('the id of a new task is taken: the source of random numbers is broken')
      }
      return created === 'full' ? created : { record, version: created.version }
    },
    async read ({ state }) {
      const found = await store.read(state)
      return found && { record: readTaskBytes(found.value.bytes), version: found.version }
    },
    async replace ({ state }, version, record) {
      const replaced = await store.replace(state, version, { bytes: toTaskBytes(record) })
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

// The records of tasks in the store. Each has an owner: the tasks of others look like unknown tasks. Each is
// sealed: it has arguments and claims, and its handler runs with the rights in it.

import { ownerOf, type Principal } from '../../../platform/access/principal.ts'
import { random } from '../../../base/time.ts'
import { Limit, ShareUsed } from '../../../platform/limits/limits.ts'
import { TaskNotReadable } from '../../../platform/protocol/errors.ts'
import { isTerminal } from '../../../platform/protocol/tasks.ts'
import { createShares, toMarkValue, type Shares } from '../../../platform/store/records/shares.ts'
import { newMark, retryOutage, type OutageOptions } from '../../../platform/store/records/lost-replies.ts'
import { createRemovals, type Removals } from '../../../platform/store/records/removals.ts'
import {
  StoreUnavailable, type RecordLifetime, type StateKey, type StateRecord, type StateStore, type StateValue
} from '../../../platform/store/records/state-store.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import { OpenedRecords } from './opened-records.ts'
import { endOf, endOfUndo, isCounted, lifetimeOf, type TaskRecord } from './record.ts'
import { readTaskBytes, toTaskBytes } from './task-bytes.ts'

/** A record and the version under which it was read. */
export interface StoredTask { readonly record: TaskRecord, readonly version: string }

/** A record that was created. */
export interface CreatedTask extends StoredTask {
  /** Whether an attempt whose reply was lost may still create it: it must not be deleted too early. */
  readonly isInDoubt: boolean
}

/** The name of a task. */
export interface TaskKey {
  readonly id: string
  readonly state: StateKey
  /** `owner/id`, as the table of due times has it. */
  readonly entry: string
}

/** There is a record of this name already: the call is a repetition. */
export class TaskTaken extends Error {}

/** 128 random bits, or as many of a name that nobody can guess. */
const ID_BYTES = 16
const PURPOSE = 'task'
const NAME_PURPOSE = 'repeated call'
/** Follows the mark of the creation in that of a record that a repetition has adopted. */
const ADOPTED = '.'
const ID = /^task_[A-Za-z0-9_-]{22}$/
/** How many tasks one owner may have, ended ones included, for each unfinished one. */
const KEPT_FACTOR = 10
/** The store decides when a record expires. The clock of a replica may be ahead by this, in milliseconds. */
const CLOCK_MARGIN_MS = 300_000
/** The pauses after lost replies, and how long they are tried again, in milliseconds. */
export const LOST_REPLY = { firstMs: 50, maxMs: 500, forMs: 1000 }

export class TaskRecords {
  readonly #store: StateStore
  readonly #sealer: Sealer
  readonly #unfinished: Limit
  readonly #all: Limit
  readonly #places: Shares
  readonly #kept: Shares
  readonly #removals: Removals
  readonly #opened = new OpenedRecords()

  /** @param maxPerOwner how many unfinished tasks one owner may have. */
  constructor (store: StateStore, sealer: Sealer, maxPerOwner: number) {
    this.#store = store
    this.#sealer = sealer
    this.#unfinished = new Limit('tasks', maxPerOwner)
    this.#all = new Limit('keptTasks', KEPT_FACTOR * maxPerOwner)
    this.#places = createShares(store, 'tasks', this.#unfinished.shareOf('network'))
    this.#kept = createShares(store, 'kept-tasks', this.#all.shareOf('network'))
    this.#removals = createRemovals(store)
  }

  /** Returns `undefined` if the text is not the id of a task. */
  keyOf (principal: Principal, id: string): TaskKey | undefined {
    return ID.test(id) ? toKey(principal, id) : undefined
  }

  newKey (principal: Principal): TaskKey {
    return toKey(principal, `task_${random.name(ID_BYTES)}`)
  }

  /**
   * Returns the names of a call that may be repeated: the first one for its record, the others for records of
   * replicas that seal with another secret. Operators find a task by its id: no two owners have the same one.
   * @param identity tells the call from all others of the principal.
   */
  keysFor (principal: Principal, identity: string): readonly [TaskKey, ...TaskKey[]] {
    const names = this.#sealer.toNames(NAME_PURPOSE, `${ownerOf(principal)} ${identity}`, ID_BYTES)
    const [first, ...otherKeys] = names.map((name) => toKey(principal, `task_${name}`))
    if (first === undefined) throw new TypeError('unreachable: a sealer has a secret')
    return [first, ...otherKeys]
  }

  /**
   * Rejects with the error for the limit that the caller has reached, with a TaskTaken, or with a
   * StoreUnavailable. After the last one nobody runs the task later: a record that was written all the same
   * is removed.
   */
  async create (key: TaskKey, record: TaskRecord): Promise<CreatedTask> {
    const { network, mark } = record
    const isReserved = !isCounted(record) || await this.reserve(key, record)
    try {
      const created = await this.#create(key, record)
      if (!isReserved) {
        await this.#places.takeOver(network, toPlace(key), mark, toPlaceLifetime(record), LOST_REPLY)
      }
      return created
    } catch (error) {
      // The place would count until the time limit of the task.
      await this.#withdraw(key, record, error)
      // A repetition of the call may create the record of its name meanwhile.
      const isOwn = (stored: StateRecord) => this.#open(key.entry, stored)?.record.mark === mark
      if (error instanceof StoreUnavailable) this.#removals.add(key.state, isOwn)
      throw error
    }
  }

  /**
   * Removes the record of an ended task whose client has its result and knows no name of it.
   * @param keepMs how long the record is kept for repetitions of the call, in milliseconds.
   */
  async forget (key: TaskKey, { record, version }: StoredTask, keepMs: number): Promise<void> {
    const { network } = record
    if (keepMs === 0) {
      await this.#kept.delete(network, key.state)
      return
    }
    await this.#store.replace(key.state, version, this.#toValue(key, record), { idleMs: keepMs })
    await this.#kept.shorten(network, key.state, keepMs)
  }

  async #create (key: TaskKey, record: TaskRecord): Promise<CreatedTask> {
    const lifetime = { idleMs: lifetimeOf(record), endsAt: endOf(record) }
    let isInDoubt = false
    const created = await this.#kept.create(
      record.network, key.state, this.#toValue(key, record), lifetime, this.#all.max,
      tryAgain(() => { isInDoubt = true })
    ).catch((error: unknown) => {
      throw error instanceof ShareUsed ? this.#all.refusal('network', error.network) : error
    })
    if (created === 'full') throw this.#all.refusal('principal')
    if (created === 'taken') {
      return { ...await retryOutage(async () => await this.#recognize(key, record), LOST_REPLY), isInDoubt }
    }
    return { record, version: created.version, isInDoubt }
  }

  /**
   * Finds the record that was created by a write whose reply was lost, and makes it durable. A repetition of
   * the call may have adopted it since: it runs all the same only here.
   */
  async #recognize (key: TaskKey, record: TaskRecord): Promise<StoredTask> {
    for (;;) {
      const current = await this.read(key)
      const { mark = '' } = current?.record ?? {}
      const isOwn = mark === record.mark || mark.startsWith(record.mark + ADOPTED)
      if (current === undefined || !isOwn) throw new TaskTaken('the id of a new task is taken')
      const { generation } = current.record
      const stored = await this.replace(key, current.version, { ...record, generation, mark })
      // If not, a repetition has adopted it meanwhile: it is read again.
      if (stored !== undefined) return stored
    }
  }

  /** Frees the place of a task that has ended: it no longer counts as unfinished. */
  async release (key: TaskKey, { network }: TaskRecord): Promise<void> {
    await this.#places.release(network, toPlace(key))
  }

  /** Resolves to whether there is a record, also one that this replica cannot open. */
  async exists ({ state }: TaskKey): Promise<boolean> {
    return await this.#store.read(state) !== undefined
  }

  /**
   * Resolves to `undefined` also if this replica does not have the secret that sealed the record. Rejects
   * with a TaskNotReadable if a newer release wrote it in a form of its own.
   */
  async read ({ state, entry }: TaskKey): Promise<StoredTask | undefined> {
    const stored = await this.#store.read(state)
    return stored && this.#open(entry, stored)
  }

  /**
   * Reads without a use, for operators. Resolves to `sealed` if this replica cannot open the record, and to
   * `newer` if a newer release wrote it in a form of its own.
   */
  async look ({ state, entry }: TaskKey): Promise<TaskRecord | 'sealed' | 'newer' | undefined> {
    const stored = await this.#store.peek(state)
    try {
      return stored && (this.#open(entry, stored)?.record ?? 'sealed')
    } catch (error) {
      if (error instanceof TaskNotReadable) return 'newer'
      throw error
    }
  }

  /** Resolves to `undefined` if the record has changed or expired since it was read. */
  async replace (key: TaskKey, version: string, record: TaskRecord): Promise<StoredTask | undefined> {
    const replaced = await this.#store.replace(key.state, version, this.#toValue(key, record))
    return replaced && { record, version: replaced.version }
  }

  /**
   * Makes a record durable that a repetition of its call has read. A creation in doubt does not remove it
   * from then on. Resolves to `undefined` if it has changed or gone.
   */
  async adopt (key: TaskKey, { record, version }: StoredTask): Promise<StoredTask | undefined> {
    if (record.generation === 0) {
      const mark = record.mark + ADOPTED + newMark()
      return await this.replace(key, version, { ...record, generation: 1, mark })
    }
    return await this.confirm(key, version) ? { record, version } : undefined
  }

  /** Resolves to whether the record has this version, when that is durable. */
  async confirm ({ state }: TaskKey, version: string): Promise<boolean> {
    return await this.#store.confirm(state, version)
  }

  #open (entry: string, { value: { bytes: sealed }, version }: StateRecord): StoredTask | undefined {
    const earlier = this.#opened.find(entry, sealed)
    if (earlier !== undefined) return { record: earlier, version }
    const bytes = this.#sealer.open(PURPOSE, entry, sealed.toString('latin1'))
    if (bytes === undefined) return undefined
    const record = readTaskBytes(bytes)
    this.#opened.keep(entry, sealed, record)
    return { record, version }
  }

  /** Bound to the key: the record of one task cannot stand for another. */
  #toValue ({ entry }: TaskKey, record: TaskRecord): StateValue {
    const sealed = this.#sealer.seal(PURPOSE, entry, toTaskBytes(record), endOf(record) + CLOCK_MARGIN_MS)
    return { bytes: Buffer.from(sealed, 'latin1') }
  }

  /**
   * Takes one of the owner's places for unfinished tasks. Resolves to whether the place was free.
   */
  async reserve (key: TaskKey, record: TaskRecord): Promise<boolean> {
    const { network, mark } = record
    const limit = this.#unfinished
    const lifetime = { ...toPlaceLifetime(record), mark }
    const place = await this.#places.create(network, toPlace(key), toMarkValue(mark), lifetime, limit.max)
      .catch(async (error: unknown) => {
        if (error instanceof ShareUsed) throw limit.refusal('network', error.network)
        await this.#withdraw(key, record, error)
        throw error
      })
    if (place === 'full') throw limit.refusal('principal')
    return place !== 'taken'
  }

  /** Removes what this attempt has taken of the owner's places, if no task of the name needs it. */
  async #withdraw (key: TaskKey, { network, mark }: TaskRecord, error: unknown): Promise<void> {
    const isOver = async () => {
      const stored = await this.read(key)
      return stored === undefined || (isTerminal(stored.record.status) && stored.record.undo !== 'due')
    }
    await this.#places.withdraw(network, toPlace(key), mark, isOver, error instanceof StoreUnavailable)
  }
}

/** Tries again after lost replies. @param onDoubt called after each: it may have its effect later. */
function tryAgain (onDoubt: () => void): OutageOptions {
  return {
    ...LOST_REPLY,
    mayGoOn () {
      onDoubt()
      return true
    }
  }
}

/** Has an owner of its own: the handles of the principal are limited apart from its tasks. */
function toKey (principal: Principal, id: string): TaskKey {
  return keyFrom(`tasks-${ownerOf(principal)}/${id}`)
}

/** The work of a task may be undone after its time limit. */
function toPlaceLifetime (record: TaskRecord): RecordLifetime & { readonly endsAt: number } {
  const { createdAt, ttlMs, mayUndo } = record
  const endsAt = mayUndo ? endOfUndo(record) : createdAt + ttlMs
  return { idleMs: endsAt - createdAt, endsAt }
}

/** Names a record with a mark that exists until the task ends. */
function toPlace ({ id, state }: TaskKey): StateKey {
  return { owner: `open-${state.owner}`, name: id }
}

/** @param entry the `entry` of a key. */
export function keyFrom (entry: string): TaskKey {
  const slash = entry.indexOf('/')
  const id = entry.slice(slash + 1)
  return { id, entry, state: { owner: entry.slice(0, slash), name: id } }
}

// The only access of tools to the store. Every record is looked up under its owner, so that no tool can
// forget to check the owner.

import { ownerOf } from '../../access/principal.ts'
import type { Handles, NewHandle } from '../../author/handles.ts'
import { pauseBefore } from '../../base/retry.ts'
import { clock, random } from '../../base/time.ts'
import { createTurns, type Turns } from '../../base/turns.ts'
import { networkOf, type Sender } from '../../limits/holder.ts'
import { Limit, ShareUsed } from '../../limits/limits.ts'
import {
  toHandleError, tooManyHandles, tooManyWriters, unknownHandle, type HandleKind
} from './handle-kind.ts'
import { checkValue, readValue } from './handle-value.ts'
import { readJson } from './json-value.ts'
import { createRemovals } from './removals.ts'
import { createShares, type Shares } from './shares.ts'
import {
  StoreUnavailable, type RecordLifetime, type StateKey, type StateRecord, type StateStore
} from './state-store.ts'

interface HandlesOptions {
  /** How many live handles one principal may have. */
  readonly maxPerOwner: number
  readonly now?: () => number
  /** Called for each handle that was created. */
  readonly onCreate?: () => void
}

export interface HandleAccess {
  /** The handles of one kind that belong to the sender. The signal ends the pause between attempts. */
  open (kind: HandleKind, sender: Sender, signal: () => AbortSignal): Handles<unknown>
}

interface HandlesDependencies extends Required<Omit<HandlesOptions, 'maxPerOwner'>> {
  readonly limit: Limit
  readonly store: StateStore
  readonly shares: Shares
  /** Orders the updates of one process. Updates of different replicas use compare-and-set. */
  readonly turns: Turns
  readonly removals: ReturnType<typeof createRemovals>
}

type Change = Parameters<Handles<unknown>['update']>[1]

/** 128 random bits, which cannot be guessed. */
const ID_BYTES = 16
const RANDOM_PART = /^[A-Za-z0-9_-]{22}$/
/** How often an update is tried when other writers change the record first. */
const MAX_ATTEMPTS = 64

export function createHandles (
  store: StateStore, { maxPerOwner, now = clock.now, onCreate = () => {} }: HandlesOptions
): HandleAccess {
  const limit = new Limit('handles', maxPerOwner)
  const dependencies = {
    store,
    shares: createShares(store, 'handles', limit.shareOf('network')),
    limit,
    now,
    onCreate,
    turns: createTurns(),
    removals: createRemovals(store)
  }
  return { open: (kind, sender, signal) => new OwnHandles(dependencies, kind, sender, signal) }
}

class OwnHandles implements Handles<unknown> {
  readonly #dependencies: HandlesDependencies
  readonly #kind: HandleKind
  readonly #sender: Sender
  readonly #owner: string
  readonly #signal: () => AbortSignal

  constructor (
    dependencies: HandlesDependencies, kind: HandleKind, sender: Sender, signal: () => AbortSignal
  ) {
    this.#dependencies = dependencies
    this.#kind = kind
    this.#sender = sender
    this.#owner = ownerOf(sender.principal)
    this.#signal = signal
  }

  async create (given: unknown): Promise<NewHandle<unknown>> {
    const { shares, removals, limit, now, onCreate } = this.#dependencies
    const { kind, prefix, idleTtlMs, maxAgeMs } = this.#kind
    try {
      const id = `${prefix}_${random.name(ID_BYTES)}`
      const value = await checkValue(this.#kind, given)
      const lifetime: RecordLifetime = {
        idleMs: idleTtlMs, ...(maxAgeMs === undefined ? {} : { endsAt: now() + maxAgeMs })
      }
      const key = this.#keyOf(id)
      const creating = shares.create(networkOf(this.#sender), key, value, lifetime, limit.max)
      const record = await creating.catch((error: unknown) => {
        if (error instanceof StoreUnavailable) removals.add(key)
        throw error instanceof ShareUsed ? tooManyHandles(this.#kind, limit, error) : error
      })
      if (record === 'full') throw tooManyHandles(this.#kind, limit)
      if (record === 'taken') {
        throw new Error(`the id of a new ${kind} is taken: the source of random numbers is broken`)
      }
      onCreate()
      return { id, value: readJson(value), expiresAt: new Date(record.expiresAt).toISOString() }
    } catch (error) {
      throw toHandleError(this.#kind, error)
    }
  }

  async read (id: string): Promise<unknown> {
    try {
      const { value } = this.#found(await this.#dependencies.store.read(this.#keyOf(id)), id)
      return await readValue(this.#kind, value)
    } catch (error) {
      throw toHandleError(this.#kind, error)
    }
  }

  async update (id: string, change: Change): Promise<unknown> {
    const { store, turns } = this.#dependencies
    const key = this.#keyOf(id)
    const turn = turns.take(`${key.owner}/${key.name}`)
    try {
      if (turn.wait !== undefined) await turn.wait
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const { value: before, version } = this.#found(await store.read(key), id)
        // A new draft for each attempt: the changes of a failed attempt are dropped.
        const current = readValue(this.#kind, before)
        const draft = current instanceof Promise ? await current : current
        const changed = change(draft)
        const checked = checkValue(this.#kind, changed === undefined ? draft : await changed ?? draft)
        const value = checked instanceof Promise ? await checked : checked
        // Written also if nothing changed: only an acknowledged write makes an earlier one durable.
        if (await store.replace(key, version, value) !== undefined) return readJson(value)
        await pauseBefore(attempt, this.#signal())
      }
      throw tooManyWriters(this.#kind)
    } catch (error) {
      throw toHandleError(this.#kind, error)
    } finally {
      turn.end()
    }
  }

  async delete (id: string): Promise<void> {
    try {
      const key = this.#keyOf(id)
      const isDeleted = await this.#dependencies.shares.delete(networkOf(this.#sender), key)
      if (!isDeleted) throw unknownHandle(this.#kind, id)
    } catch (error) {
      throw toHandleError(this.#kind, error)
    }
  }

  /** Throws for a malformed id, so that the store gets only ids of this kind. */
  #keyOf (id: string): StateKey {
    const { kind, prefix } = this.#kind
    const head = `${prefix}_`
    if (typeof id !== 'string' || !id.startsWith(head) || !RANDOM_PART.test(id.slice(head.length))) {
      throw unknownHandle(this.#kind, id)
    }
    return { owner: this.#owner, name: `${kind}:${id}` }
  }

  #found (record: StateRecord | undefined, id: string): StateRecord {
    if (record === undefined) throw unknownHandle(this.#kind, id)
    return record
  }
}

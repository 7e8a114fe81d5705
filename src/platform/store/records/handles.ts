// The only access of tools to the store. Every record is looked up under its owner, so that no tool can
// forget to check the owner.

import { ownerOf } from '../../access/principal.ts'
import type { Handles, NewHandle } from '../../author/handles.ts'
import { pauseBefore } from '../../../base/retry.ts'
import { clock, random } from '../../../base/time.ts'
import { createKeyedQueue } from '../../../base/keyed-queue.ts'
import { networkOf, type Sender } from '../../limits/holder.ts'
import { Limit, ShareUsed } from '../../limits/limits.ts'
import {
  toHandleError, tooManyHandles, tooManyWriters, unknownHandle, type HandleKind
} from './handle-kind.ts'
import { checkValue, readValue } from './handle-value.ts'
import { readJson } from './json-value.ts'
import { createRemovals } from './removals.ts'
import { createShares } from './shares.ts'
import {
  StoreUnavailable, type RecordLifetime, type StateKey, type StateRecord, type StateStore
} from './state-store.ts'

interface HandlesOptions {
  /** What the handles are for. `handles` of tools by default. */
  readonly purpose?: 'handles' | 'remainders'
  /** How many live handles one principal may have. */
  readonly maxPerOwner?: number
  readonly now?: () => number
  /** Called for each handle that was created. */
  readonly onCreate?: () => void
}

type Change = Parameters<Handles<unknown>['update']>[1]

/** 128 random bits, which cannot be guessed. */
const ID_BYTES = 16
const RANDOM_PART = /^[A-Za-z0-9_-]{22}$/
/** How often an update is tried when other writers change the record first. */
const MAX_ATTEMPTS = 64

export type HandleAccess = ReturnType<typeof createHandles>

export function createHandles (
  store: StateStore,
  { purpose = 'handles', maxPerOwner, now = clock.now, onCreate = () => {} }: HandlesOptions
) {
  const limit = new Limit('handles', maxPerOwner)
  const shares = createShares(store, purpose, limit.shareOf('network'))
  const removals = createRemovals(store)
  /** Orders the updates of one process. Updates of different replicas use compare-and-set. */
  const queue = createKeyedQueue()
  // A store counts all records of an owner together. What the service keeps takes no room of the tools.
  const prefix = purpose === 'handles' ? '' : `${purpose}-`
  const toOwner = ({ principal }: Sender) => `${prefix}${ownerOf(principal)}`

  async function create (kind: HandleKind, sender: Sender, content: unknown): Promise<NewHandle<unknown>> {
    const id = `${kind.prefix}_${random.name(ID_BYTES)}`
    const value = await checkValue(kind, content)
    const lifetime: RecordLifetime = {
      idleMs: kind.idleTtlMs, ...(kind.maxAgeMs === undefined ? {} : { endsAt: now() + kind.maxAgeMs })
    }
    const key = toKey(kind, toOwner(sender), id)
    const creating = shares.create(networkOf(sender), key, value, lifetime, limit.max)
    const record = await creating.catch((error: unknown) => {
      if (error instanceof StoreUnavailable) removals.add(key)
      throw error instanceof ShareUsed ? tooManyHandles(kind, limit, error) : error
    })
    if (record === 'full') throw tooManyHandles(kind, limit)
    if (record === 'taken') {
      throw new Error(`the id of a new ${kind.kind} is taken: the source of random numbers is broken`)
    }
    onCreate()
    return { id, value: readJson(value), expiresAt: new Date(record.expiresAt).toISOString() }
  }

  async function update (
    kind: HandleKind, key: StateKey, id: string, change: Change, signal: () => AbortSignal
  ): Promise<unknown> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const { value: before, version } = live(await store.read(key), kind, id)
      // A new draft for each attempt: the changes of a failed attempt are dropped.
      const current = readValue(kind, before)
      const draft = current instanceof Promise ? await current : current
      const changed = change(draft)
      const checked = checkValue(kind, changed === undefined ? draft : await changed ?? draft)
      const value = checked instanceof Promise ? await checked : checked
      // Written also if nothing changed: only an acknowledged write makes an earlier one durable.
      if (await store.replace(key, version, value) !== undefined) return readJson(value)
      await pauseBefore(attempt, signal())
    }
    throw tooManyWriters(kind)
  }

  return {
    /** The handles of one kind that belong to the sender. The signal ends the pause between attempts. */
    open (kind: HandleKind, sender: Sender, signal: () => AbortSignal): Handles<unknown> {
      const owner = toOwner(sender)
      const fail = (error: unknown): never => { throw toHandleError(kind, error) }
      return {
        create: async (content) => await create(kind, sender, content).catch(fail),
        async read (id) {
          try {
            return await readValue(kind, live(await store.read(toKey(kind, owner, id)), kind, id).value)
          } catch (error) {
            return fail(error)
          }
        },
        async update (id, change) {
          const key = toKey(kind, owner, id)
          const turn = queue.take(`${key.owner}/${key.name}`)
          try {
            if (turn.wait !== undefined) await turn.wait
            return await update(kind, key, id, change, signal)
          } catch (error) {
            return fail(error)
          } finally {
            turn.end()
          }
        },
        async delete (id) {
          const isDeleted = await shares.delete(networkOf(sender), toKey(kind, owner, id)).catch(fail)
          if (!isDeleted) throw unknownHandle(kind, id)
        }
      }
    }
  }
}

/** Throws for a malformed id, so that the store gets only ids of this kind. */
function toKey (kind: HandleKind, owner: string, id: string): StateKey {
  const head = `${kind.prefix}_`
  if (typeof id !== 'string' || !id.startsWith(head) || !RANDOM_PART.test(id.slice(head.length))) {
    throw unknownHandle(kind, id)
  }
  return { owner, name: `${kind.kind}:${id}` }
}

function live (record: StateRecord | undefined, kind: HandleKind, id: string): StateRecord {
  if (record === undefined) throw unknownHandle(kind, id)
  return record
}

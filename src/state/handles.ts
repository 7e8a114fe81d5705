// The only door to the store. A record is looked up under its owner, so that no tool can forget to check who that is.

import { randomBytes } from 'node:crypto'
import { ownerOf, type Principal } from '../access/principal.ts'
import { HandleError, type Handles } from '../authoring/handles.ts'
import { ToolError } from '../authoring/tool-error.ts'
import { pauseBefore } from './backoff.ts'
import { checkValue, readValue, type HandleKind } from './handle-value.ts'
import { StoreUnavailable, type StateKey, type StateStore } from './state-store.ts'
import { createTurns } from './turns.ts'

export interface HandlesOptions {
  /** How many live handles one principal may have. */
  readonly maxPerOwner: number
  readonly now?: () => number
}

export interface HandleAccess {
  /** The handles of one kind that belong to a principal. Waiting for others ends with the signal. */
  open (kind: HandleKind, principal: Principal, signal: () => AbortSignal): Handles<unknown>
}

/** 128 bits, which nobody guesses. */
const ID_BYTES = 16
const RANDOM_PART = /^[A-Za-z0-9_-]{22}$/
/** How often an update may find that somebody else was faster. */
const MAX_ATTEMPTS = 64

export function createHandles (store: StateStore, { maxPerOwner, now = Date.now }: HandlesOptions): HandleAccess {
  // Replicas compare and set; within a process, whoever came first is first.
  const turns = createTurns()
  return {
    open (kind, principal, signal) {
      const owner = ownerOf(principal)

      /** Throws for what can be no id of this kind: nothing else is ever asked of the store. */
      function keyOf (id: string): StateKey {
        const head = `${kind.prefix}_`
        if (typeof id !== 'string' || !id.startsWith(head) || !RANDOM_PART.test(id.slice(head.length))) throw unknownHandle(kind, id)
        return { owner, name: `${kind.kind}:${id}` }
      }

      async function exchange (key: StateKey, id: string, change: (draft: unknown) => unknown): Promise<unknown> {
        for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
          const record = await store.read(key)
          if (record === undefined) throw unknownHandle(kind, id)
          // Read anew each time: what an attempt that came too late did to its draft is gone.
          const draft = readValue(record.value)
          const changed = change(draft)
          const checked = checkValue(kind, changed === undefined ? draft : await changed ?? draft)
          const { bytes, value } = checked instanceof Promise ? await checked : checked
          if (bytes.equals(record.value) || await store.replace(key, record.version, bytes) !== undefined) return value
          await pauseBefore(attempt, signal())
        }
        throw new ToolError(`This ${kind.kind} is being changed by too many at once. Nothing was changed; try again.`)
      }

      return {
        create: (value) => reaching(kind, async () => {
          const id = `${kind.prefix}_${randomBytes(ID_BYTES).toString('base64url')}`
          const checked = await checkValue(kind, value)
          const lifetime = { idleMs: kind.idleTtlMs, ...(kind.maxAgeMs === undefined ? {} : { endsAt: now() + kind.maxAgeMs }) }
          const record = await store.create(keyOf(id), checked.bytes, lifetime, maxPerOwner)
          if (record === 'full') throw tooMany(kind, maxPerOwner)
          if (record === 'taken') throw new Error(`the id of a new ${kind.kind} is taken: the source of random numbers is broken`)
          return { id, value: checked.value, expiresAt: new Date(record.expiresAt).toISOString() }
        }),

        read: (id) => reaching(kind, async () => {
          const record = await store.read(keyOf(id))
          if (record === undefined) throw unknownHandle(kind, id)
          return readValue(record.value)
        }),

        update: (id, change) => reaching(kind, () => {
          const key = keyOf(id)
          return turns.take(`${key.owner}/${key.name}`, () => exchange(key, id, change))
        }),

        delete: (id) => reaching(kind, async () => {
          if (!await store.delete(keyOf(id))) throw unknownHandle(kind, id)
        })
      }
    }
  }
}

/** One answer for unknown, expired, deleted and somebody else's: the caller must not learn which. */
function unknownHandle ({ kind, createdBy }: HandleKind, id: unknown): HandleError {
  const advice = createdBy === undefined ? 'It may have expired.' : `It may have expired; ${createdBy} makes a new one.`
  return new HandleError(`There is no ${kind} ${JSON.stringify(String(id).slice(0, 64))}. ${advice}`)
}

function tooMany ({ kind }: HandleKind, limit: number): ToolError {
  return new ToolError(`No new ${kind} can be made: ${limit} are kept already, which is as many as there may be. Use or delete one that exists.`)
}

async function reaching<T> ({ kind }: HandleKind, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    throw new ToolError(`The ${kind} cannot be reached at the moment. Try again in a few seconds.`, { cause: error })
  }
}

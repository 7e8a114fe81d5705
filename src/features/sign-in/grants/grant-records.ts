// The records of grants: a person has let a client act, until the person, the client or time ends it. All of
// a grant is one record, so that each change of it is one write.

import { hash } from 'node:crypto'
import { signalAfter } from '../../../base/deadline.ts'
import { pauseBefore } from '../../../base/retry.ts'
import { random } from '../../../base/time.ts'
import { isObject, parseJson } from '../../../platform/protocol/json-rpc.ts'
import type { StateKey, StateStore, StateValue } from '../../../platform/store/records/state-store.ts'

/** A release that knows more members keeps them: each change copies the record. */
export interface GrantRecord {
  /** What the engine keeps of the grant. */
  readonly grant: object
  readonly about: GrantedClient
  /** The time at which the grant ends even if it is used, in milliseconds since the epoch. */
  readonly endsAt: number
  readonly refresh?: RefreshState
  readonly provider: ProviderState
}

/** What the identity provider gave with the grant. */
export interface ProviderState {
  /** The tokens and the claims, sealed. */
  readonly sealed: string
}

/** Describes a grant for the person who has given it. */
export interface GrantedClient {
  readonly clientName: string
  /** The host of the client's document. Absent for a client that has registered itself. */
  readonly clientHost?: string
  /** In milliseconds since the epoch. */
  readonly createdAt: number
}

/** The family of refresh tokens. Only the last one counts. */
export interface RefreshState {
  /** How many refresh tokens came before the last one. */
  readonly rotation: number
  /** The time at which the last one was made, in milliseconds since the epoch. For people only. */
  readonly rotatedAt: number
  /** Names the attempt that made it: a write whose reply was lost finds its own. */
  readonly mark?: string
  /** What the engine keeps of the last one. */
  readonly payload: object
}

export interface GrantLifetimes {
  /** How long a grant lives without a use, in milliseconds. */
  readonly idleMs: number
}

export type GrantRecords = ReturnType<typeof createGrantRecords>

/** The most grants that one person may have. */
const MAX_GRANTS = 100
/** How long a grant waits for its first token, in milliseconds. */
const UNUSED_MS = 600_000
/** How long a refresh token that was used gets the same answer again, in milliseconds. */
const REPEAT_MS = 10_000
const MAX_REPEATS = 1000
const MAX_ATTEMPTS = 8
const GRANT_ID = /^([\w-]{22})\.([\w-]{22})$/
/** The seal of what the provider gave has six bytes for the time at which it ends. */
const LATEST_END = 2 ** 48 - 1
const EMPTY = { bytes: Buffer.alloc(0) }

export function createGrantRecords (store: StateStore, { idleMs }: GrantLifetimes) {
  /** A record beside the grant: its time is the store's, so that clocks of replicas may differ. */
  const toRepeat = ({ owner, name }: StateKey, rotation: number) => (
    { owner: `${owner}-repeats`, name: `${name}.${rotation}` }
  )

  /** A record that cannot be read is like none: its client signs in again. */
  const read = async (id: string): Promise<GrantRecord | undefined> => {
    const key = toKey(id)
    const record = key && await store.peek(key)
    return record && toRecord(record.value)
  }

  return {
    /** Makes the id of a new grant. It has the owner of the record: the same for all grants of a person. */
    newId: (subject: string) => `${ownerOf(subject)}.${random.name(16)}`,

    /** Resolves to the ids of the person's grants. */
    async list (subject: string): Promise<readonly string[]> {
      const owner = ownerOf(subject)
      return [...(await store.list(`grants-${owner}`)).keys()].map((name) => `${owner}.${name}`)
    },

    /** Resolves to `false` if the person has too many grants. */
    async create (id: string, record: GrantRecord): Promise<boolean> {
      const lifetime = { idleMs: UNUSED_MS, endsAt: record.endsAt }
      return await store.create(keyOf(id), toValue(record), lifetime, MAX_GRANTS) !== 'full'
    },

    read,

    async isLive (id: string): Promise<boolean> {
      const key = toKey(id)
      return key !== undefined && await store.peek(key) !== undefined
    },

    /**
     * Resolves to the record after the change, or to `undefined` if there is none that can be read.
     * @param change returns `undefined` to change nothing.
     * @param isUse whether the grant lives on from now.
     */
    async change (
      id: string, change: (record: GrantRecord) => GrantRecord | undefined, { isUse = false } = {}
    ): Promise<GrantRecord | undefined> {
      const key = keyOf(id)
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const stored = await store.peek(key)
        const before = stored && toRecord(stored.value)
        if (stored === undefined || before === undefined) return undefined
        const after = change(before)
        if (after === undefined) return before
        const lifetime = isUse ? { idleMs, endsAt: after.endsAt } : undefined
        if (await store.replace(key, stored.version, toValue(after), lifetime) !== undefined) return after
        await pauseBefore(attempt, signalAfter(5000))
      }
      throw new Error('the record of a grant changes too often')
    },

    /** Lets the refresh token of this rotation get its answer again for a while. */
    async allowRepeat (id: string, rotation: number): Promise<void> {
      await store.create(toRepeat(keyOf(id), rotation), EMPTY, { idleMs: REPEAT_MS }, MAX_REPEATS)
    },

    async mayRepeat (id: string, rotation: number): Promise<boolean> {
      return await store.peek(toRepeat(keyOf(id), rotation)) !== undefined
    },

    async remove (id: string): Promise<void> {
      const key = toKey(id)
      if (key !== undefined) await store.delete(key)
    }
  }
}

function ownerOf (subject: string): string { return hash('sha256', subject, 'base64url').slice(0, 22) }

function toKey (id: string): StateKey | undefined {
  const [, owner = '', name = ''] = GRANT_ID.exec(id) ?? []
  return name === '' ? undefined : { owner: `grants-${owner}`, name }
}

function keyOf (id: string): StateKey {
  const key = toKey(id)
  if (key === undefined) throw new TypeError('unreachable: the id of a grant has another form')
  return key
}

function toValue (record: GrantRecord) { return { bytes: Buffer.from(JSON.stringify(record)) } }

function toRecord ({ bytes }: StateValue): GrantRecord | undefined {
  const value = parseJson(Buffer.from(bytes).toString())
  return isGrantRecord(value) ? value : undefined
}

/** Checks what this release reads. Members that it does not know may have any value. */
function isGrantRecord (value: unknown): value is GrantRecord {
  if (!isObject(value)) return false
  const { grant, about, endsAt, refresh, provider } = value
  return isObject(grant) &&
    isObject(about) && typeof about.clientName === 'string' && typeof about.createdAt === 'number' &&
    typeof endsAt === 'number' && endsAt >= 0 && endsAt <= LATEST_END &&
    isObject(provider) && typeof provider.sealed === 'string' &&
    (refresh === undefined || isRefreshState(refresh))
}

function isRefreshState (value: unknown): boolean {
  return isObject(value) && isObject(value.payload) && Number.isSafeInteger(value.rotation) &&
    typeof value.rotatedAt === 'number'
}

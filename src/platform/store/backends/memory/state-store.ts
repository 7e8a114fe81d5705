// The store of one process, for tests and for services whose state need not survive the process.

import { clock, timers } from '../../../../base/time.ts'
import {
  StoreUnavailable, type RecordLifetime, type StateKey, type StateRecord, type StateStore, type StateValue
} from '../../records/state-store.ts'

const SWEEP_MS = 30_000

interface MemoryStateStoreOptions {
  /** The time in milliseconds since the epoch. The system clock by default. */
  readonly now?: () => number
  /** How often expired records are dropped, in milliseconds. 30,000 by default. */
  readonly sweepMs?: number
}

interface StoredRecord {
  readonly key: StateKey
  readonly lifetime: RecordLifetime
  value: StateValue
  version: string
  expiresAt: number
  /**
   * The number of a span of `sweepMs`. The sweep checks the record at the end of this span. The record does
   * not expire in an earlier one.
   */
  dueIn: number
}

interface OwnerRecords {
  readonly records: Map<string, StoredRecord>
  /** No record expires before this time. */
  earliest: number
}

export function createMemoryStateStore (
  { now = clock.now, sweepMs = SWEEP_MS }: MemoryStateStoreOptions = {}
): StateStore {
  const owners = new Map<string, OwnerRecords>()
  /** The records by the spans of time in which they are due. */
  const due = new Map<number, Set<StoredRecord>>()
  const timer = timers.setInterval(sweep, sweepMs).unref()
  let replacements = 0
  let isClosed = false

  function assertOpen (): void {
    if (isClosed) throw new StoreUnavailable(new Error('the store is closed'))
  }

  function find ({ owner, name }: StateKey): StoredRecord | undefined {
    assertOpen()
    const record = owners.get(owner)?.records.get(name)
    return record !== undefined && now() < record.expiresAt ? record : undefined
  }

  function use (record: StoredRecord): StateRecord {
    record.expiresAt = expiryOf(record.lifetime, now())
    return toRecord(record)
  }

  /** Replaces a record of the same name. */
  function put (key: StateKey, lifetime: RecordLifetime, value: StateValue): StateRecord {
    drop(key)
    const expiresAt = expiryOf(lifetime, now())
    const version = String(++replacements)
    const record: StoredRecord = { key, lifetime, value, version, expiresAt, dueIn: 0 }
    const owned = owners.get(key.owner) ?? { records: new Map(), earliest: Infinity }
    owners.set(key.owner, owned)
    owned.records.set(key.name, record)
    owned.earliest = Math.min(owned.earliest, expiresAt)
    scheduleSweep(record)
    return toRecord(record)
  }

  function drop ({ owner, name }: StateKey): void {
    const owned = owners.get(owner)
    const record = owned?.records.get(name)
    if (owned === undefined || record === undefined) return
    owned.records.delete(name)
    if (owned.records.size === 0) owners.delete(owner)
    const sharing = due.get(record.dueIn)
    sharing?.delete(record)
    if (sharing?.size === 0) due.delete(record.dueIn)
  }

  /** Reads the records of a full owner only if one of them may have expired since they were last read. */
  function hasRoom (owner: string, limit: number): boolean {
    const owned = owners.get(owner)
    if (owned === undefined || owned.records.size < limit) return limit > 0
    if (now() < owned.earliest) return false
    for (const { key, expiresAt } of owned.records.values()) if (expiresAt <= now()) drop(key)
    owned.earliest = Infinity
    for (const { expiresAt } of owned.records.values()) owned.earliest = Math.min(owned.earliest, expiresAt)
    return owned.records.size < limit
  }

  /** A use does not move its record to a later span. The sweep moves it once for all uses. */
  function sweep (): void {
    const time = now()
    for (const [span, records] of due) {
      if (span * sweepMs > time) continue
      due.delete(span)
      for (const record of records) {
        if (record.expiresAt <= time) drop(record.key)
        else scheduleSweep(record)
      }
    }
  }

  function scheduleSweep (record: StoredRecord): void {
    record.dueIn = Math.ceil(record.expiresAt / sweepMs)
    const sharing = due.get(record.dueIn) ?? new Set()
    due.set(record.dueIn, sharing.add(record))
  }

  return {
    async create (key, value, lifetime, limit) {
      if (find(key) !== undefined) return 'taken'
      drop(key)
      return hasRoom(key.owner, limit) ? put(key, lifetime, value) : 'full'
    },
    async read (key) {
      const record = find(key)
      return record && use(record)
    },
    async peek (key) {
      const record = find(key)
      return record && toRecord(record)
    },
    async replace (key, version, value, lifetime) {
      const record = find(key)
      if (record?.version !== version) return undefined
      if (lifetime !== undefined) return put(key, lifetime, value)
      // The record does not expire earlier than before: `earliest` and `dueIn` stay valid.
      record.value = value
      record.version = String(++replacements)
      return use(record)
    },
    confirm: async (key, version) => find(key)?.version === version,
    async delete (key) {
      const isLive = find(key) !== undefined
      drop(key)
      return isLive
    },
    async list (owner) {
      assertOpen()
      const records = [...owners.get(owner)?.records.values() ?? []]
      const live = records.filter(({ expiresAt }) => now() < expiresAt)
      return new Map(live.map(({ key, expiresAt }) => [key.name, expiresAt]))
    },
    async check () { assertOpen() },
    async close () {
      isClosed = true
      timers.clear(timer)
      owners.clear()
      due.clear()
    }
  }
}

function expiryOf ({ idleMs, endsAt = Infinity }: RecordLifetime, usedAt: number): number {
  return Math.min(usedAt + idleMs, endsAt)
}

function toRecord ({ value, version, expiresAt }: StoredRecord): StateRecord {
  return { value, version, expiresAt }
}

// The store of one process, for tests and for services whose state need not survive the process.

import { clock, timers } from '../../../base/time.ts'
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

/** The records of all owners, and the spans of time in which they are due. */
class MemoryRecords {
  readonly #now: () => number
  readonly #sweepMs: number
  readonly #owners = new Map<string, OwnerRecords>()
  readonly #due = new Map<number, Set<StoredRecord>>()
  #replacements = 0

  constructor (now: () => number, sweepMs: number) {
    this.#now = now
    this.#sweepMs = sweepMs
  }

  find ({ owner, name }: StateKey): StoredRecord | undefined {
    const record = this.#owners.get(owner)?.records.get(name)
    return record !== undefined && this.#now() < record.expiresAt ? record : undefined
  }

  use (record: StoredRecord): StateRecord {
    record.expiresAt = expiryOf(record.lifetime, this.#now())
    return toRecord(record)
  }

  /** Without a lifetime the record does not expire earlier than before: `earliest` and `dueIn` stay valid. */
  replace (record: StoredRecord, value: StateValue, lifetime?: RecordLifetime): StateRecord {
    if (lifetime !== undefined) return this.put(record.key, lifetime, value)
    record.value = value
    record.version = String(++this.#replacements)
    return this.use(record)
  }

  /** Replaces a record of the same name. */
  put (key: StateKey, lifetime: RecordLifetime, value: StateValue): StateRecord {
    this.drop(key)
    const expiresAt = expiryOf(lifetime, this.#now())
    const version = String(++this.#replacements)
    const record: StoredRecord = { key, lifetime, value, version, expiresAt, dueIn: 0 }
    const owned = this.#owners.get(key.owner) ?? { records: new Map(), earliest: Infinity }
    this.#owners.set(key.owner, owned)
    owned.records.set(key.name, record)
    owned.earliest = Math.min(owned.earliest, expiresAt)
    this.#scheduleSweep(record)
    return toRecord(record)
  }

  drop ({ owner, name }: StateKey): void {
    const owned = this.#owners.get(owner)
    const record = owned?.records.get(name)
    if (owned === undefined || record === undefined) return
    owned.records.delete(name)
    if (owned.records.size === 0) this.#owners.delete(owner)
    const sharing = this.#due.get(record.dueIn)
    sharing?.delete(record)
    if (sharing?.size === 0) this.#due.delete(record.dueIn)
  }

  /** Reads the records of a full owner only if one of them may have expired since they were last read. */
  hasRoom (owner: string, limit: number): boolean {
    const owned = this.#owners.get(owner)
    if (owned === undefined || owned.records.size < limit) return limit > 0
    if (this.#now() < owned.earliest) return false
    for (const { key, expiresAt } of owned.records.values()) if (expiresAt <= this.#now()) this.drop(key)
    owned.earliest = Infinity
    for (const { expiresAt } of owned.records.values()) owned.earliest = Math.min(owned.earliest, expiresAt)
    return owned.records.size < limit
  }

  list (owner: string): ReadonlyMap<string, number> {
    const records = [...this.#owners.get(owner)?.records.values() ?? []]
    const live = records.filter(({ expiresAt }) => this.#now() < expiresAt)
    return new Map(live.map(({ key, expiresAt }) => [key.name, expiresAt]))
  }

  /** A use does not move its record to a later span. The sweep moves it once for all uses. */
  sweep (): void {
    const time = this.#now()
    for (const [span, records] of this.#due) {
      if (span * this.#sweepMs > time) continue
      this.#due.delete(span)
      for (const record of records) {
        if (record.expiresAt <= time) this.drop(record.key)
        else this.#scheduleSweep(record)
      }
    }
  }

  clear (): void {
    this.#owners.clear()
    this.#due.clear()
  }

  #scheduleSweep (record: StoredRecord): void {
    record.dueIn = Math.ceil(record.expiresAt / this.#sweepMs)
    const sharing = this.#due.get(record.dueIn) ?? new Set()
    this.#due.set(record.dueIn, sharing.add(record))
  }
}

export function createMemoryStateStore (
  { now = clock.now, sweepMs = SWEEP_MS }: MemoryStateStoreOptions = {}
): StateStore {
  const records = new MemoryRecords(now, sweepMs)
  const timer = timers.setInterval(() => records.sweep(), sweepMs).unref()
  let isClosed = false

  function assertOpen (): void {
    if (isClosed) throw new StoreUnavailable(new Error('the store is closed'))
  }

  return {
    async create (key, value, lifetime, limit) {
      assertOpen()
      if (records.find(key) !== undefined) return 'taken'
      records.drop(key)
      return records.hasRoom(key.owner, limit) ? records.put(key, lifetime, value) : 'full'
    },
    async read (key) {
      assertOpen()
      const record = records.find(key)
      return record && records.use(record)
    },
    async peek (key) {
      assertOpen()
      const record = records.find(key)
      return record && toRecord(record)
    },
    async replace (key, version, value, lifetime) {
      assertOpen()
      const record = records.find(key)
      return record?.version === version ? records.replace(record, value, lifetime) : undefined
    },
    async confirm (key, version) {
      assertOpen()
      return records.find(key)?.version === version
    },
    async delete (key) {
      assertOpen()
      const isLive = records.find(key) !== undefined
      records.drop(key)
      return isLive
    },
    async list (owner) {
      assertOpen()
      return records.list(owner)
    },
    async check () { assertOpen() },
    async close () {
      isClosed = true
      timers.clear(timer)
      records.clear()
    }
  }
}

function expiryOf ({ idleMs, endsAt = Infinity }: RecordLifetime, usedAt: number): number {
  return Math.min(usedAt + idleMs, endsAt)
}

function toRecord ({ value, version, expiresAt }: StoredRecord): StateRecord {
  return { value, version, expiresAt }
}

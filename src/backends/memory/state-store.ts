// The store of one process, which ends with it: for tests, and for a service whose state need not survive it.

import {
  StoreUnavailable, type Lifetime, type StateKey, type StateRecord, type StateStore, type StateValue
} from '../../state/state-store.ts'

const SWEEP_MS = 30_000

export interface MemoryStateStoreOptions {
  /** The time in milliseconds since the epoch. The system's by default. */
  readonly now?: () => number
  /** How often expired records are dropped, in milliseconds. 30,000 by default. */
  readonly sweepMs?: number
}

interface Kept {
  readonly key: StateKey
  readonly lifetime: Lifetime
  value: StateValue
  version: string
  expiresAt: number
  /** The sweep checks this record at the end of this span of time. It does not expire in an earlier one. */
  dueIn: number
}

interface Owned {
  readonly records: Map<string, Kept>
  /** None of the records expires before this. */
  earliest: number
}

export function createMemoryStateStore (options: MemoryStateStoreOptions = {}): StateStore {
  const { now = Date.now, sweepMs = SWEEP_MS } = options
  const owners = new Map<string, Owned>()
  const due = new Map<number, Set<Kept>>()
  let replacements = 0
  let closed = false

  const timer = setInterval(sweep, sweepMs).unref()

  function refuseWhenClosed (): void {
    if (closed) throw new StoreUnavailable(new Error('the store is closed'))
  }

  function find ({ owner, name }: StateKey): Kept | undefined {
    const kept = owners.get(owner)?.records.get(name)
    return kept !== undefined && now() < kept.expiresAt ? kept : undefined
  }

  function use (kept: Kept): StateRecord {
    kept.expiresAt = expiryOf(kept.lifetime, now())
    return toRecord(kept)
  }

  /** Replaces a record of the same name. */
  function put (key: StateKey, lifetime: Lifetime, value: StateValue): StateRecord {
    drop(key)
    const expiresAt = expiryOf(lifetime, now())
    const kept: Kept = { key, lifetime, value, version: String(++replacements), expiresAt, dueIn: 0 }
    const owned = owners.get(key.owner) ?? { records: new Map<string, Kept>(), earliest: Infinity }
    owners.set(key.owner, owned)
    owned.records.set(key.name, kept)
    owned.earliest = Math.min(owned.earliest, expiresAt)
    scheduleSweep(kept)
    return toRecord(kept)
  }

  function drop ({ owner, name }: StateKey): void {
    const owned = owners.get(owner)
    const kept = owned?.records.get(name)
    if (owned === undefined || kept === undefined) return
    owned.records.delete(name)
    if (owned.records.size === 0) owners.delete(owner)
    const sharing = due.get(kept.dueIn)
    sharing?.delete(kept)
    if (sharing?.size === 0) due.delete(kept.dueIn)
  }

  function scheduleSweep (kept: Kept): void {
    kept.dueIn = Math.ceil(kept.expiresAt / sweepMs)
    const sharing = due.get(kept.dueIn) ?? new Set()
    due.set(kept.dueIn, sharing.add(kept))
  }

  /** Checks the records of a full owner only when one of them can have expired since the last check. */
  function hasRoom (owner: string, limit: number): boolean {
    const owned = owners.get(owner)
    if (owned === undefined || owned.records.size < limit) return limit > 0
    if (now() < owned.earliest) return false
    for (const { key, expiresAt } of owned.records.values()) if (expiresAt <= now()) drop(key)
    owned.earliest = Infinity
    for (const { expiresAt } of owned.records.values()) owned.earliest = Math.min(owned.earliest, expiresAt)
    return owned.records.size < limit
  }

  /** A use does not move its record to a later span. The sweep does, once for all uses. */
  function sweep (): void {
    const time = now()
    for (const [span, records] of due) {
      if (span * sweepMs > time) continue
      due.delete(span)
      for (const kept of records) {
        if (kept.expiresAt <= time) drop(kept.key)
        else scheduleSweep(kept)
      }
    }
  }

  return {
    async create (key, value, lifetime, limit) {
      refuseWhenClosed()
      if (find(key) !== undefined) return 'taken'
      drop(key)
      return hasRoom(key.owner, limit) ? put(key, lifetime, value) : 'full'
    },
    async read (key) {
      refuseWhenClosed()
      const kept = find(key)
      return kept === undefined ? undefined : use(kept)
    },
    async replace (key, version, value) {
      refuseWhenClosed()
      const kept = find(key)
      if (kept?.version !== version) return undefined
      // The record expires no earlier than before, so that `earliest` and `dueIn` stay right.
      kept.value = value
      kept.version = String(++replacements)
      kept.expiresAt = expiryOf(kept.lifetime, now())
      return toRecord(kept)
    },
    async delete (key) {
      refuseWhenClosed()
      const found = find(key) !== undefined
      drop(key)
      return found
    },
    async list (owner) {
      refuseWhenClosed()
      const live = [...owners.get(owner)?.records.values() ?? []].filter(({ expiresAt }) => now() < expiresAt)
      return new Map(live.map(({ key, expiresAt }) => [key.name, expiresAt]))
    },
    async check () { refuseWhenClosed() },
    async close () {
      closed = true
      clearInterval(timer)
      owners.clear()
      due.clear()
    }
  }
}

function expiryOf ({ idleMs, endsAt = Infinity }: Lifetime, usedAt: number): number {
  return Math.min(usedAt + idleMs, endsAt)
}

function toRecord ({ value, version, expiresAt }: Kept): StateRecord {
  return { value, version, expiresAt }
}

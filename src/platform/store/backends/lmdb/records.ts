// The records in an open folder, with the counts of their owners. Every method but `list`, `read` and
// `peek` runs within a transaction.

import { random } from '../../../../base/time.ts'
import type { RecordLifetime, StateRecord } from '../../records/state-store.ts'
import type { LmdbFolder } from './folder.ts'
import {
  extended, fromHeader, fromNumbers, toHeader, toOwner, VERSION_BYTES, type Header
} from './record.ts'

type Databases = Pick<LmdbFolder, 'headers' | 'values' | 'expiries' | 'owners'>

/** The records of one owner: how many, expired ones included, and a time before which none expires. */
interface Owned { readonly count: number, readonly earliest: number }

const NOTHING = Buffer.alloc(0)
/** No id has this form. */
const PROBE = '!probe'
const PROBE_BYTES = 32_768
/** A use is written only if it extends the lifetime by at least this fraction of the idle lifetime. */
const EXTENSION_THRESHOLD = 0.01

export function createLmdbRecords ({ headers, values, expiries, owners }: Databases, now: () => number) {
  /** The times of uses that are not written yet. Every header that is read is extended by them. */
  const uses = new Map<string, number>()
  // Random for each opening of the folder: a new record must not have the version of a deleted one.
  const versionPrefix = random.name(9)
  let versions = 0

  function findHeader (id: string): Header | undefined {
    const bytes = headers.get(id)
    return bytes === undefined ? undefined : extended(toHeader(bytes), uses.get(id))
  }

  function findLive (id: string): Header | undefined {
    const header = findHeader(id)
    return header !== undefined && now() < header.expiresAt ? header : undefined
  }

  /** Adds a record whose name is free. */
  function add (id: string, bytes: Buffer, { idleMs, endsAt = Infinity }: RecordLifetime): StateRecord {
    const owner = toOwner(id)
    const expiresAt = Math.min(now() + idleMs, endsAt)
    const { count, earliest } = readOwned(owner)
    writeOwned(owner, { count: count + 1, earliest: Math.min(earliest, expiresAt) })
    expiries.put([expiresAt, id], NOTHING)
    return put(id, bytes, { idleMs, endsAt, expiresAt, notedAt: expiresAt })
  }

  function put (id: string, bytes: Buffer, header: Omit<Header, 'version'>): StateRecord {
    const number = (++versions).toString(36)
    const version = versionPrefix + number.padStart(VERSION_BYTES - versionPrefix.length, '0')
    headers.put(id, fromHeader({ ...header, version }))
    values.put(id, bytes)
    return { value: { bytes }, version, expiresAt: header.expiresAt }
  }

  function remove (id: string): void {
    const header = findHeader(id)
    if (header === undefined) return
    headers.remove(id)
    values.remove(id)
    expiries.remove([header.notedAt, id])
    const owner = toOwner(id)
    const { count, earliest } = readOwned(owner)
    writeOwned(owner, { count: count - 1, earliest })
  }

  function readOwned (owner: string): Owned {
    const bytes = owners.get(owner)
    if (bytes === undefined) return { count: 0, earliest: Infinity }
    return { count: bytes.readDoubleBE(0), earliest: bytes.readDoubleBE(8) }
  }

  function writeOwned (owner: string, { count, earliest }: Owned): void {
    if (count === 0) owners.remove(owner)
    else owners.put(owner, fromNumbers(count, earliest))
  }

  function findOwned (owner: string): ReadonlyArray<{ readonly id: string, readonly expiresAt: number }> {
    return [...headers.getRange({ start: `${owner}/`, end: `${owner}0` })].map(({ key: id, value }) => (
      { id, expiresAt: extended(toHeader(value), uses.get(id)).expiresAt }
    ))
  }

  /** Reads the records of a full owner only if one of them may have expired since they were last read. */
  function hasRoom (owner: string, limit: number): boolean {
    const { count, earliest } = readOwned(owner)
    if (count < limit) return true
    if (now() < earliest) return false
    const records = findOwned(owner)
    const live = records.filter(({ expiresAt }) => now() < expiresAt)
    for (const { id, expiresAt } of records) if (expiresAt <= now()) remove(id)
    const next = live.reduce((soonest, { expiresAt }) => Math.min(soonest, expiresAt), Infinity)
    writeOwned(owner, { count: live.length, earliest: next })
    return live.length < limit
  }

  return {
    create (
      id: string, bytes: Buffer, lifetime: RecordLifetime, limit: number
    ): StateRecord | 'taken' | 'full' {
      if (findLive(id) !== undefined) return 'taken'
      remove(id)
      return hasRoom(toOwner(id), limit) ? add(id, bytes, lifetime) : 'full'
    },
    /** @param onUse called if the use must be written. */
    read (id: string, onUse: () => void): StateRecord | undefined {
      const header = findLive(id)
      const bytes = header && values.get(id)
      if (header === undefined || bytes === undefined) return undefined
      const { version, expiresAt, idleMs } = header
      const usedAt = now()
      const extension = extended(header, usedAt)
      const isWritten = extension.expiresAt - expiresAt >= idleMs * EXTENSION_THRESHOLD
      if (isWritten) {
        uses.set(id, usedAt)
        onUse()
      }
      return { value: { bytes }, version, expiresAt: isWritten ? extension.expiresAt : expiresAt }
    },
    peek (id: string): StateRecord | undefined {
      const header = findLive(id)
      const bytes = header && values.get(id)
      return header && bytes && { value: { bytes }, version: header.version, expiresAt: header.expiresAt }
    },
    replace (id: string, version: string, bytes: Buffer, lifetime?: RecordLifetime): StateRecord | undefined {
      const header = findLive(id)
      if (header?.version !== version) return undefined
      if (lifetime === undefined) return put(id, bytes, extended(header, now()))
      remove(id)
      return add(id, bytes, lifetime)
    },
    has: (id: string, version: string): boolean => findLive(id)?.version === version,
    delete (id: string): boolean {
      const isLive = findLive(id) !== undefined
      remove(id)
      return isLive
    },
    list (owner: string): ReadonlyMap<string, number> {
      const live = findOwned(owner).filter(({ expiresAt }) => now() < expiresAt)
      return new Map(live.map(({ id, expiresAt }) => [id.slice(owner.length + 1), expiresAt]))
    },
    /** The uses that are not written yet. */
    get uses (): ReadonlyArray<readonly [string, number]> { return [...uses] },
    writeUses (written: ReadonlyArray<readonly [string, number]>): void {
      for (const [id] of written) {
        const header = findHeader(id)
        if (header !== undefined) headers.put(id, fromHeader(header))
      }
    },
    /** Called after the commit. Later uses of the same records stay. */
    forgetUses (written: ReadonlyArray<readonly [string, number]>): void {
      for (const [id, usedAt] of written) if (uses.get(id) === usedAt) uses.delete(id)
    },
    /** The first records, by the expiry that was noted, whose time has come. */
    findDue: (limit: number): ReadonlyArray<[number, string]> => (
      [...expiries.getKeys({ end: [now()], limit })]
    ),
    /** Removes an expired record. Moves the expiry of a record that was used meanwhile to its new time. */
    removeOrReschedule ([notedAt, id]: [number, string]): void {
      const header = findHeader(id)
      if (header !== undefined && header.expiresAt <= now()) return remove(id)
      expiries.remove([notedAt, id])
      if (header === undefined) return
      headers.put(id, fromHeader({ ...header, notedAt: header.expiresAt }))
      expiries.put([header.expiresAt, id], NOTHING)
    },
    /**
     * Writes a value that is no record. LMDB reuses pages only after a later commit, so the write needs free
     * pages, or room on the disk, as the write of a record does.
     */
    probe (): void { values.put(PROBE, Buffer.alloc(PROBE_BYTES)) }
  }
}

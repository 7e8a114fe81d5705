// The records in an open folder, with the counts of their owners. Every method but `list`, `read` and
// `peek` runs within a transaction.

import { random } from '../../../base/time.ts'
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

export class LmdbRecords {
  readonly #databases: Databases
  readonly #now: () => number
  /** The times of uses that are not written yet. Every header that is read is extended by them. */
  readonly #uses = new Map<string, number>()
  // Random for each opening of the folder: a new record must not have the version of a deleted one.
  readonly #versionPrefix = random.name(9)
  #versions = 0

  constructor (databases: Databases, now: () => number) {
    this.#databases = databases
    this.#now = now
  }

  create (
    id: string, bytes: Buffer, lifetime: RecordLifetime, limit: number
  ): StateRecord | 'taken' | 'full' {
    if (this.#findLive(id) !== undefined) return 'taken'
    this.#remove(id)
    return this.#hasRoom(toOwner(id), limit) ? this.#add(id, bytes, lifetime) : 'full'
  }

  /** @param onUse called if the use must be written. */
  read (id: string, onUse: () => void): StateRecord | undefined {
    const header = this.#findLive(id)
    const bytes = header && this.#databases.values.get(id)
    if (header === undefined || bytes === undefined) return undefined
    const { version, expiresAt, idleMs } = header
    const usedAt = this.#now()
    const extension = extended(header, usedAt)
    const isWritten = extension.expiresAt - expiresAt >= idleMs * EXTENSION_THRESHOLD
    if (isWritten) {
      this.#uses.set(id, usedAt)
      onUse()
    }
    return { value: { bytes }, version, expiresAt: isWritten ? extension.expiresAt : expiresAt }
  }

  peek (id: string): StateRecord | undefined {
    const header = this.#findLive(id)
    const bytes = header && this.#databases.values.get(id)
    return header && bytes && { value: { bytes }, version: header.version, expiresAt: header.expiresAt }
  }

  replace (id: string, version: string, bytes: Buffer, lifetime?: RecordLifetime): StateRecord | undefined {
    const header = this.#findLive(id)
    if (header?.version !== version) return undefined
    if (lifetime === undefined) return this.#put(id, bytes, extended(header, this.#now()))
    this.#remove(id)
    return this.#add(id, bytes, lifetime)
  }

  has (id: string, version: string): boolean {
    return this.#findLive(id)?.version === version
  }

  delete (id: string): boolean {
    const isLive = this.#findLive(id) !== undefined
    this.#remove(id)
    return isLive
  }

  list (owner: string): ReadonlyMap<string, number> {
    const live = this.#findOwned(owner).filter(({ expiresAt }) => this.#now() < expiresAt)
    return new Map(live.map(({ id, expiresAt }) => [id.slice(owner.length + 1), expiresAt]))
  }

  /** The uses that are not written yet. */
  get uses (): ReadonlyArray<readonly [string, number]> { return [...this.#uses] }

  writeUses (uses: ReadonlyArray<readonly [string, number]>): void {
    for (const [id] of uses) {
      const header = this.#findHeader(id)
      if (header !== undefined) this.#databases.headers.put(id, fromHeader(header))
    }
  }

  /** Called after the commit. Later uses of the same records stay. */
  forgetUses (uses: ReadonlyArray<readonly [string, number]>): void {
    for (const [id, usedAt] of uses) if (this.#uses.get(id) === usedAt) this.#uses.delete(id)
  }

  /** The first records, by the expiry that was noted, whose time has come. */
  findDue (limit: number): ReadonlyArray<[number, string]> {
    return [...this.#databases.expiries.getKeys({ end: [this.#now()], limit })]
  }

  /** Removes an expired record. Moves the expiry of a record that was used meanwhile to its new time. */
  removeOrReschedule ([notedAt, id]: [number, string]): void {
    const { headers, expiries } = this.#databases
    const header = this.#findHeader(id)
    if (header !== undefined && header.expiresAt <= this.#now()) return this.#remove(id)
    expiries.remove([notedAt, id])
    if (header === undefined) return
    headers.put(id, fromHeader({ ...header, notedAt: header.expiresAt }))
    expiries.put([header.expiresAt, id], NOTHING)
  }

  /**
   * Writes a value that is no record. LMDB reuses pages only after a later commit, so the write needs free
   * pages, or room on the disk, as the write of a record does.
   */
  probe (): void {
    this.#databases.values.put(PROBE, Buffer.alloc(PROBE_BYTES))
  }

  #findHeader (id: string): Header | undefined {
    const bytes = this.#databases.headers.get(id)
    return bytes === undefined ? undefined : extended(toHeader(bytes), this.#uses.get(id))
  }

  #findLive (id: string): Header | undefined {
    const header = this.#findHeader(id)
    return header !== undefined && this.#now() < header.expiresAt ? header : undefined
  }

  /** Adds a record whose name is free. */
  #add (id: string, bytes: Buffer, { idleMs, endsAt = Infinity }: RecordLifetime): StateRecord {
    const owner = toOwner(id)
    const expiresAt = Math.min(this.#now() + idleMs, endsAt)
    const { count, earliest } = this.#readOwned(owner)
    this.#writeOwned(owner, { count: count + 1, earliest: Math.min(earliest, expiresAt) })
    this.#databases.expiries.put([expiresAt, id], NOTHING)
    return this.#put(id, bytes, { idleMs, endsAt, expiresAt, notedAt: expiresAt })
  }

  #put (id: string, bytes: Buffer, header: Omit<Header, 'version'>): StateRecord {
    const number = (++this.#versions).toString(36)
    const version = this.#versionPrefix + number.padStart(VERSION_BYTES - this.#versionPrefix.length, '0')
    this.#databases.headers.put(id, fromHeader({ ...header, version }))
    this.#databases.values.put(id, bytes)
    return { value: { bytes }, version, expiresAt: header.expiresAt }
  }

  #remove (id: string): void {
    const header = this.#findHeader(id)
    if (header === undefined) return
    const { headers, values, expiries } = this.#databases
    headers.remove(id)
    values.remove(id)
    expiries.remove([header.notedAt, id])
    const owner = toOwner(id)
    const { count, earliest } = this.#readOwned(owner)
    this.#writeOwned(owner, { count: count - 1, earliest })
  }

  #readOwned (owner: string): Owned {
    const bytes = this.#databases.owners.get(owner)
    if (bytes === undefined) return { count: 0, earliest: Infinity }
    return { count: bytes.readDoubleBE(0), earliest: bytes.readDoubleBE(8) }
  }

  #writeOwned (owner: string, { count, earliest }: Owned): void {
    if (count === 0) this.#databases.owners.remove(owner)
    else this.#databases.owners.put(owner, fromNumbers(count, earliest))
  }

  #findOwned (owner: string): ReadonlyArray<{ readonly id: string, readonly expiresAt: number }> {
    const range = this.#databases.headers.getRange({ start: `${owner}/`, end: `${owner}0` })
    return [...range].map(({ key: id, value }) => {
      return { id, expiresAt: extended(toHeader(value), this.#uses.get(id)).expiresAt }
    })
  }

  /** Reads the records of a full owner only if one of them may have expired since they were last read. */
  #hasRoom (owner: string, limit: number): boolean {
    const { count, earliest } = this.#readOwned(owner)
    if (count < limit) return true
    if (this.#now() < earliest) return false
    const records = this.#findOwned(owner)
    const live = records.filter(({ expiresAt }) => this.#now() < expiresAt)
    for (const { id, expiresAt } of records) if (expiresAt <= this.#now()) this.#remove(id)
    const next = live.reduce((soonest, { expiresAt }) => Math.min(soonest, expiresAt), Infinity)
    this.#writeOwned(owner, { count: live.length, earliest: next })
    return live.length < limit
  }
}

// The store of one machine: a folder that survives restarts and crashes. Processes on the machine may share
// it.

import { clock, random, timers } from '../../../base/time.ts'
import type { DueTimes } from '../../records/due-times.ts'
import { StoreUnavailable, type StateRecord, type StateStore } from '../../records/state-store.ts'
import { inTime, toCommitCause } from './deadline.ts'
import { createLmdbDueTimes } from './due-times.ts'
import { createFolderCheck } from './folder-check.ts'
import { openLmdbFolder } from './folder.ts'
import {
  extended, fromHeader, fromNumbers, toHeader, toId, toOwner, VERSION_BYTES, type Header
} from './record.ts'

const SWEEP_MS = 30_000
/** Small, because sweeping one batch blocks the event loop. */
const SWEEP_BATCH = 200
const WRITE_DEADLINE_MS = 10_000
const NOTHING = Buffer.alloc(0)
/** A use is written only if it extends the lifetime by at least this fraction of the idle lifetime. */
const EXTENSION_THRESHOLD = 0.01

interface LmdbStateStoreOptions {
  /** Stores with different prefixes can share a folder; they share no records. `trivet` by default. */
  readonly prefix?: string
  /** The time in milliseconds since the epoch. The system clock by default. */
  readonly now?: () => number
  /** How often expired records are deleted, in milliseconds. 30,000 by default. */
  readonly sweepMs?: number
  /** How long a write may wait for the disk and for other processes, in milliseconds. 10,000 by default. */
  readonly writeDeadlineMs?: number
  /** Called once if the database is removed or truncated. All later calls of the store reject. */
  readonly onBroken?: (error: Error) => void
}

export interface LmdbStateStore extends StateStore {
  /** In the same folder. */
  readonly dueTimes: DueTimes
}

/**
 * Creates a missing folder. Throws if the folder cannot be used. Many processes may open one folder, each of
 * them once: opening blocks the thread, and waits for a write of another store. A store of the same thread
 * could not finish that write.
 */
export function openLmdbStateStore (folder: string, options: LmdbStateStoreOptions = {}): LmdbStateStore {
  const { prefix = 'trivet', now = clock.now } = options
  const { sweepMs = SWEEP_MS, writeDeadlineMs = WRITE_DEADLINE_MS, onBroken = () => {} } = options
  const { root, headers, values, expiries, owners, dueTimes: times } = openLmdbFolder(folder, prefix)
  const check = createFolderCheck(folder, (error) => {
    // The sweep reads the file.
    timers.clear(timer)
    onBroken(error)
  })
  const underWay = new Set<Promise<unknown>>()
  /** The times of uses that are not written yet. Every header that is read here is extended by them. */
  const uses = new Map<string, number>()
  // Random for each opening of the folder: a new record must not have the version of a deleted one.
  const versionPrefix = random.name(9)
  let versions = 0
  let isExtending = false
  let isSweeping = false
  let closing: Promise<void> | undefined

  const timer = timers.setInterval(() => { if (!isSweeping) track(sweep()) }, sweepMs).unref()

  function assertOpen (): void {
    if (closing !== undefined) throw new StoreUnavailable(new Error('the store is closed'))
    try {
      check.assertFoundWhole()
    } catch (error) {
      throw new StoreUnavailable(error)
    }
  }

  /**
   * Runs `work` as one transaction, and resolves once its commit is on the disk. Concurrent transactions
   * share a commit. An error in one transaction fails the shared commit.
   */
  async function write<T> (work: () => T): Promise<T> {
    try {
      check.assertWhole()
      const result = await track(inTime(root.transaction(work), writeDeadlineMs))
      // Again, because the folder may have been removed before the commit.
      check.assertWhole()
      return result
    } catch (error) {
      throw new StoreUnavailable(await toCommitCause(error, writeDeadlineMs))
    }
  }

  /** `close` waits for tracked work. */
  function track<T> (work: Promise<T>): Promise<T> {
    const forget = () => { underWay.delete(work) }
    underWay.add(work)
    work.then(forget, forget)
    return work
  }

  function findHeader (id: string): Header | undefined {
    const bytes = headers.get(id)
    return bytes === undefined ? undefined : extended(toHeader(bytes), uses.get(id))
  }

  function findLive (id: string): Header | undefined {
    const header = findHeader(id)
    return header !== undefined && now() < header.expiresAt ? header : undefined
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
    writeOwned(owner, count - 1, earliest)
  }

  function readOwned (owner: string): { readonly count: number, readonly earliest: number } {
    const bytes = owners.get(owner)
    if (bytes === undefined) return { count: 0, earliest: Infinity }
    return { count: bytes.readDoubleBE(0), earliest: bytes.readDoubleBE(8) }
  }

  function writeOwned (owner: string, count: number, earliest: number): void {
    if (count === 0) owners.remove(owner)
    else owners.put(owner, fromNumbers(count, earliest))
  }

  function findOwned (owner: string): ReadonlyArray<{ readonly id: string, readonly expiresAt: number }> {
    const range = headers.getRange({ start: `${owner}/`, end: `${owner}0` })
    return [...range].map(({ key: id, value }) => {
      return { id, expiresAt: extended(toHeader(value), uses.get(id)).expiresAt }
    })
  }

  /** Reads the records of a full owner only if one of them may have expired since they were last read. */
  function hasRoom (owner: string, limit: number): boolean {
    const { count, earliest } = readOwned(owner)
    if (count < limit) return true
    if (now() < earliest) return false
    const found = findOwned(owner)
    const live = found.filter(({ expiresAt }) => now() < expiresAt)
    for (const { id, expiresAt } of found) if (expiresAt <= now()) remove(id)
    const next = live.reduce((soonest, { expiresAt }) => Math.min(soonest, expiresAt), Infinity)
    writeOwned(owner, live.length, next)
    return live.length < limit
  }

  /** The write runs in the background: reads do not wait for it. */
  function noteUse (id: string, usedAt: number): void {
    uses.set(id, usedAt)
    if (!isExtending) track(writeUses())
  }

  async function writeUses (): Promise<void> {
    isExtending = true
    while (uses.size > 0) {
      let written: ReadonlyArray<[string, number]> = []
      try {
        await write(() => {
          written = [...uses]
          for (const [id] of written) {
            const header = findHeader(id)
            if (header !== undefined) headers.put(id, fromHeader(header))
          }
        })
      } catch {
        // The records keep their earlier expiries. The next operation that writes reports the error.
        uses.clear()
      }
      for (const [id, usedAt] of written) if (uses.get(id) === usedAt) uses.delete(id)
    }
    isExtending = false
  }

  async function sweep (): Promise<void> {
    isSweeping = true
    try {
      while (hasDue()) await write(() => { findDue(SWEEP_BATCH).forEach(removeOrReschedule) })
    } catch {
      // The next sweep tries again. Reads ignore expired records in any case.
    }
    isSweeping = false
  }

  function hasDue (): boolean {
    return closing === undefined && check.isWhole && findDue(1).length > 0
  }

  function findDue (limit: number): ReadonlyArray<[number, string]> {
    return [...expiries.getKeys({ end: [now()], limit })]
  }

  /** Removes an expired record. Moves the expiry of a record that was used meanwhile to its new time. */
  function removeOrReschedule ([notedAt, id]: [number, string]): void {
    const header = findHeader(id)
    if (header !== undefined && header.expiresAt <= now()) return remove(id)
    expiries.remove([notedAt, id])
    if (header === undefined) return
    headers.put(id, fromHeader({ ...header, notedAt: header.expiresAt }))
    expiries.put([header.expiresAt, id], NOTHING)
  }

  async function close (): Promise<void> {
    timers.clear(timer)
    check.close()
    while (underWay.size > 0) await Promise.allSettled(underWay)
    // Rejects only if another process holds the folder's lock too long.
    await inTime(root.close(), writeDeadlineMs).catch(() => {})
  }

  const refresh = () => root.resetReadTxn()
  return {
    dueTimes: createLmdbDueTimes({ times, write, assertOpen, refresh, now }),
    async create (key, { bytes }, lifetime, limit) {
      assertOpen()
      const id = toId(key)
      return await write(() => {
        if (findLive(id) !== undefined) return 'taken'
        remove(id)
        if (!hasRoom(key.owner, limit)) return 'full'
        const { idleMs, endsAt = Infinity } = lifetime
        const expiresAt = Math.min(now() + idleMs, endsAt)
        const { count, earliest } = readOwned(key.owner)
        writeOwned(key.owner, count + 1, Math.min(earliest, expiresAt))
        expiries.put([expiresAt, id], NOTHING)
        return put(id, bytes, { idleMs, endsAt, expiresAt, notedAt: expiresAt })
      })
    },
    async read (key) {
      assertOpen()
      const id = toId(key)
      try {
        // LMDB reuses a read snapshot for a moment. Newer writes of other processes are missing in it.
        root.resetReadTxn()
        const header = findLive(id)
        const bytes = header === undefined ? undefined : values.get(id)
        if (header === undefined || bytes === undefined) return undefined
        const value = { bytes }
        const { version, expiresAt } = header
        const usedAt = now()
        const extension = extended(header, usedAt)
        const isBelowThreshold = extension.expiresAt - expiresAt < header.idleMs * EXTENSION_THRESHOLD
        if (isBelowThreshold) return { value, version, expiresAt }
        noteUse(id, usedAt)
        return { value, version, expiresAt: extension.expiresAt }
      } catch (error) {
        throw new StoreUnavailable(error)
      }
    },
    async replace (key, version, { bytes }) {
      assertOpen()
      const id = toId(key)
      return await write(() => {
        const header = findLive(id)
        return header?.version === version ? put(id, bytes, extended(header, now())) : undefined
      })
    },
    async delete (key) {
      assertOpen()
      const id = toId(key)
      return await write(() => {
        const found = findLive(id) !== undefined
        remove(id)
        return found
      })
    },
    async list (owner) {
      assertOpen()
      try {
        root.resetReadTxn()
        const live = findOwned(owner).filter(({ expiresAt }) => now() < expiresAt)
        return new Map(live.map(({ id, expiresAt }) => [id.slice(owner.length + 1), expiresAt]))
      } catch (error) {
        throw new StoreUnavailable(error)
      }
    },
    async check () {
      assertOpen()
      // An empty transaction needs the writing thread and the folder's lock, like any write.
      await write(() => {})
    },
    close: async () => await (closing ??= close())
  }
}

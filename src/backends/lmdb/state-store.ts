// The store of one machine: a folder that survives restarts and crashes. Several processes of the machine may share it.

import { randomBytes } from 'node:crypto'
import { StoreUnavailable, type StateRecord, type StateStore } from '../../state/state-store.ts'
import { openLmdbFolder } from './folder.ts'
import { extended, fromHeader, fromNumbers, ownerOf, toHeader, toId, VERSION_BYTES, type Header } from './record.ts'

const SWEEP_MS = 30_000
/** Small, because the event loop stands still while one batch is swept. */
const SWEEP_BATCH = 200
const WRITE_DEADLINE_MS = 10_000
const NOTHING = Buffer.alloc(0)
/** A use whose extension is a smaller part of the idle lifetime than this is not worth a write. */
const EXTENSION_THRESHOLD = 0.01

export interface LmdbStateStoreOptions {
  /** The time in milliseconds since the epoch. The system's by default. */
  readonly now?: () => number
  /** How often abandoned records are deleted, in milliseconds. 30,000 by default. */
  readonly sweepMs?: number
  /** How long a write may wait for the disk and for other processes, in milliseconds. 10,000 by default. */
  readonly writeDeadlineMs?: number
}

/**
 * Makes the folder where there is none. Throws where it cannot be used. A folder may be open in many processes, but once
 * in each: opening it waits for whoever writes, and another store of this process would wait for this one's thread.
 */
export function openLmdbStateStore (folder: string, options: LmdbStateStoreOptions = {}): StateStore {
  const { now = Date.now, sweepMs = SWEEP_MS, writeDeadlineMs = WRITE_DEADLINE_MS } = options
  const { root, headers, values, expiries, owners } = openLmdbFolder(folder)
  const underWay = new Set<Promise<unknown>>()
  /** When records were used whose extension is not written yet. Whoever reads a header here sees it extended. */
  const uses = new Map<string, number>()
  // Unique among all openings of the folder: a record made anew must not have the version of one that was deleted.
  const versionPrefix = randomBytes(9).toString('base64url')
  let versions = 0
  let isExtending = false
  let isSweeping = false
  let closing: Promise<void> | undefined

  const timer = setInterval(() => { if (!isSweeping) track(sweep()) }, sweepMs).unref()

  function refuseWhenClosed (): void {
    if (closing !== undefined) throw new StoreUnavailable(new Error('the store is closed'))
  }

  /**
   * Runs it as one transaction. Those of the same moment share a commit; it is flushed to the disk before this resolves.
   * What LMDB fails at in the middle of a transaction, it lets nobody commit.
   */
  async function write<T> (work: () => T): Promise<T> {
    try {
      return await track(inTime(root.transaction(work), writeDeadlineMs))
    } catch (error) {
      throw new StoreUnavailable(await toCause(error, writeDeadlineMs))
    }
  }

  /** Closing waits for it. */
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
    const version = versionPrefix + (++versions).toString(36).padStart(VERSION_BYTES - versionPrefix.length, '0')
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
    const owner = ownerOf(id)
    const { count, earliest } = readOwned(owner)
    writeOwned(owner, count - 1, earliest)
  }

  function readOwned (owner: string): { readonly count: number, readonly earliest: number } {
    const bytes = owners.get(owner)
    return bytes === undefined ? { count: 0, earliest: Infinity } : { count: bytes.readDoubleBE(0), earliest: bytes.readDoubleBE(8) }
  }

  function writeOwned (owner: string, count: number, earliest: number): void {
    if (count === 0) owners.remove(owner)
    else owners.put(owner, fromNumbers(count, earliest))
  }

  function findOwned (owner: string): ReadonlyArray<{ readonly id: string, readonly expiresAt: number }> {
    const range = headers.getRange({ start: `${owner}/`, end: `${owner}0` })
    return [...range].map(({ key, value }) => ({ id: key, expiresAt: extended(toHeader(value), uses.get(key)).expiresAt }))
  }

  /** Looks at the records of a full owner only when one of them can have expired since they were last looked at. */
  function hasRoom (owner: string, limit: number): boolean {
    const { count, earliest } = readOwned(owner)
    if (count < limit) return true
    if (now() < earliest) return false
    const found = findOwned(owner)
    const live = found.filter(({ expiresAt }) => now() < expiresAt)
    for (const { id, expiresAt } of found) if (expiresAt <= now()) remove(id)
    writeOwned(owner, live.length, live.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), Infinity))
    return live.length < limit
  }

  /** Not waited for: a read is no slower than the memory that it reads. */
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
        // The record keeps the lifetime that it had. Whoever writes next is told what is wrong.
        uses.clear()
      }
      for (const [id, usedAt] of written) if (uses.get(id) === usedAt) uses.delete(id)
    }
    isExtending = false
  }

  async function sweep (): Promise<void> {
    isSweeping = true
    try {
      while (hasDue()) await write(() => { findDue(SWEEP_BATCH).forEach(settle) })
    } catch {
      // The next sweep tries again; until then what has expired is absent all the same.
    }
    isSweeping = false
  }

  function hasDue (): boolean {
    return closing === undefined && findDue(1).length > 0
  }

  function findDue (limit: number): ReadonlyArray<[number, string]> {
    return [...expiries.getKeys({ end: [now()], limit })]
  }

  /** What was noted here has expired, or was used: then its expiry is noted where it is now. */
  function settle ([notedAt, id]: [number, string]): void {
    const header = findHeader(id)
    if (header !== undefined && header.expiresAt <= now()) return remove(id)
    expiries.remove([notedAt, id])
    if (header === undefined) return
    headers.put(id, fromHeader({ ...header, notedAt: header.expiresAt }))
    expiries.put([header.expiresAt, id], NOTHING)
  }

  async function close (): Promise<void> {
    clearInterval(timer)
    while (underWay.size > 0) await Promise.allSettled(underWay)
    // Only where another process holds the folder's lock and does not let go is this not in time; nothing waits for it then.
    await inTime(root.close(), writeDeadlineMs).catch(() => {})
  }

  return {
    async create (key, { bytes }, lifetime, limit) {
      refuseWhenClosed()
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
      refuseWhenClosed()
      const id = toId(key)
      try {
        // LMDB keeps its view for a moment; another process may have acknowledged something since.
        root.resetReadTxn()
        const header = findLive(id)
        const bytes = header === undefined ? undefined : values.get(id)
        if (header === undefined || bytes === undefined) return undefined
        const value = { bytes }
        const { version, expiresAt } = header
        const usedAt = now()
        const extension = extended(header, usedAt)
        if (extension.expiresAt - expiresAt < header.idleMs * EXTENSION_THRESHOLD) return { value, version, expiresAt }
        noteUse(id, usedAt)
        return { value, version, expiresAt: extension.expiresAt }
      } catch (error) {
        throw new StoreUnavailable(error)
      }
    },
    async replace (key, version, { bytes }) {
      refuseWhenClosed()
      const id = toId(key)
      return await write(() => {
        const header = findLive(id)
        return header?.version === version ? put(id, bytes, extended(header, now())) : undefined
      })
    },
    async delete (key) {
      refuseWhenClosed()
      const id = toId(key)
      return await write(() => {
        const found = findLive(id) !== undefined
        remove(id)
        return found
      })
    },
    async list (owner) {
      refuseWhenClosed()
      try {
        root.resetReadTxn()
        const live = findOwned(owner).filter(({ expiresAt }) => now() < expiresAt)
        return new Map(live.map(({ id, expiresAt }) => [id.slice(owner.length + 1), expiresAt]))
      } catch (error) {
        throw new StoreUnavailable(error)
      }
    },
    async check () {
      refuseWhenClosed()
      // Writes nothing, and yet asks for all that a write needs: the thread that writes, and the lock of the folder.
      await write(() => {})
    },
    close: async () => await (closing ??= close())
  }
}

async function inTime<T> (promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`neither written nor refused within ${deadlineMs} ms`)), deadlineMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A failed commit says why in a promise of its own, which must be waited for: nobody else does. */
async function toCause (error: unknown, deadlineMs: number): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return await inTime(Promise.resolve(error.commitError), deadlineMs).then(() => error, (cause: unknown) => cause)
}

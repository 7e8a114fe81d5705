// The parts that all uses of files share: the storage, the counts, the links, and the records of uploads.

import { singleFlight } from '../base/single-flight.ts'
import { timers } from '../base/time.ts'
import { EMPTY_VALUE } from '../store/records/shares.ts'
import type { StateStore } from '../store/records/state-store.ts'
import { createAccounts } from './accounts.ts'
import { createKeptFiles, type KeptFile, type KeptFiles } from './kept-files.ts'
import type { Links, UploadLink } from './links.ts'
import type { FileStorage } from './storage.ts'

export interface FileLimits {
  /** The limit of one file, in bytes. */
  readonly maxFileBytes: number
  /** The limit of all files of one owner, in bytes. */
  readonly maxFileBytesPerCaller: number
  /** How long the link to an upload page works, in milliseconds. */
  readonly uploadTtlMs: number
}

export interface FileRoomDependencies {
  readonly storage: FileStorage
  readonly store: StateStore
  readonly links: Links
  readonly limits: FileLimits
  readonly log: { warn (fields: object, message: string): void }
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A file that came by an upload link. */
export interface ReceivedFile extends KeptFile {
  readonly name: string
  readonly mimeType: string
  readonly expiresAt: number
}

/** The record of an upload link names the file that came by it. A link that has a record is used up. */
export interface UploadRecords {
  find (link: Pick<UploadLink, 'id' | 'owner'>): Promise<ReceivedFile | undefined>
  /** Resolves to `taken` if the link has been used. */
  add (link: UploadLink, file: ReceivedFile): Promise<'added' | 'taken' | 'full'>
}

export interface FileRoom extends Omit<FileRoomDependencies, 'store' | 'log'> {
  readonly kept: KeptFiles
  readonly uploads: UploadRecords
  /** Ends the sweeps, and closes the storage. */
  close (): Promise<void>
}

/** The time between two sweeps, in milliseconds. One of the replicas sweeps. */
const SWEEP_MS = 600_000
/** The limit of upload records of one owner. Each names a file: the limit of files is the same. */
const MAX_RECORDS = 10_000

export function createFileRoom ({ store, log, ...shared }: FileRoomDependencies): FileRoom {
  const { storage, limits, now } = shared
  let lastSweep: Promise<void> | undefined
  const share = singleFlight(async () => {
    await sweep().catch((err: unknown) => log.warn({ err }, 'expired files are not deleted'))
  })
  const timer = timers.setInterval(() => { lastSweep = share() }, SWEEP_MS).unref()

  /** Sweeps if this replica creates the record first. It lasts almost until the next sweep. */
  async function sweep (): Promise<void> {
    const idleMs = SWEEP_MS * 0.9
    const lifetime = { idleMs, endsAt: now() + idleMs }
    const turn = await store.create({ owner: 'files', name: 'sweep' }, EMPTY_VALUE, lifetime, 1)
    if (typeof turn !== 'string') await storage.sweep(now())
  }

  return {
    ...shared,
    kept: createKeptFiles(storage, createAccounts(store, limits.maxFileBytesPerCaller, now)),
    uploads: createUploadRecords(store, now),
    async close () {
      timers.clear(timer)
      await lastSweep
      await storage.close()
    }
  }
}

function createUploadRecords (store: StateStore, now: () => number): UploadRecords {
  const keyOf = ({ id, owner }: Pick<UploadLink, 'id' | 'owner'>) => ({ owner: `uploads-${owner}`, name: id })
  return {
    async find (link) {
      const record = await store.read(keyOf(link))
      return record === undefined ? undefined : JSON.parse(record.value.bytes.toString())
    },
    async add (link, file) {
      // The record outlives its file: the link must not work again.
      const endsAt = Math.max(file.expiresAt, link.expiresAt)
      const value = { bytes: Buffer.from(JSON.stringify(file)) }
      const lifetime = { idleMs: Math.max(1, endsAt - now()), endsAt }
      const record = await store.create(keyOf(link), value, lifetime, MAX_RECORDS)
      return typeof record === 'string' ? record : 'added'
    }
  }
}

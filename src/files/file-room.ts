// What the parts of this room share once files are used: the storage, the counts, the links.

import { timers } from '../base/time.ts'
import { EMPTY_VALUE } from '../store/records/shares.ts'
import type { StateStore } from '../store/records/state-store.ts'
import { createAccounts } from './accounts.ts'
import { createKeptFiles, type KeptFiles } from './kept-files.ts'
import type { Links } from './links.ts'
import type { FileStorage } from './storage.ts'
import { createUploadRecords, type UploadRecords } from './upload-records.ts'

export interface FileLimits {
  /** The largest file. */
  readonly maxFileBytes: number
  /** All files of one owner. */
  readonly maxFileBytesPerCaller: number
  /** How long the link to an upload page works. */
  readonly uploadTtlMs: number
}

export interface FileRoomDependencies {
  readonly storage: FileStorage
  readonly store: StateStore
  readonly links: Links
  readonly limits: FileLimits
  readonly log: { warn (fields: object, message: string): void }
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export interface FileRoom extends Omit<FileRoomDependencies, 'store' | 'log'> {
  readonly kept: KeptFiles
  readonly uploads: UploadRecords
  /** Ends the sweeps, and closes the storage. */
  close (): Promise<void>
}

/** How often expired files are deleted, by one of the replicas. */
const SWEEP_MS = 600_000

export function createFileRoom ({ store, log, ...shared }: FileRoomDependencies): FileRoom {
  const { storage, limits, now } = shared
  let sweeping: Promise<void> | undefined
  const timer = timers.setInterval(() => {
    sweeping ??= sweep().catch((err: unknown) => log.warn({ err }, 'expired files are not deleted'))
      .finally(() => { sweeping = undefined })
  }, SWEEP_MS).unref()

  /** The record lasts almost until the next sweep: the replica that creates it is the one that sweeps. */
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
      await sweeping
      await storage.close()
    }
  }
}

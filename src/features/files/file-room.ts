// The parts that all uses of files share: the storage, the counts, the links, and the records of uploads.

import { withinDeadline } from '../../base/deadline.ts'
import { singleFlight } from '../../base/single-flight.ts'
import { timers } from '../../base/time.ts'
import { ArrivingBytes } from '../../platform/limits/arriving-bytes.ts'
import { Limit } from '../../platform/limits/limits.ts'
import { EMPTY_VALUE } from '../../platform/store/records/shares.ts'
import { createAccounts } from './accounts.ts'
import { createKeptFiles, type KeptFiles } from './kept-files.ts'
import type { Links } from './links.ts'
import type { FileStorage } from './storage.ts'
import {
  createUploadRecords, type UploadRecords, type UploadRecordsDependencies
} from './upload-records.ts'

export interface FileLimits {
  /** The limit of one file, in bytes. */
  readonly maxFileBytes: number
  /** The limit of all files of one owner, in bytes. */
  readonly maxFileBytesPerCaller: number
  /** How long the link to an upload page works, in milliseconds. */
  readonly uploadTtlMs: number
  /** The limit of the parts of files that wait in memory, in bytes. */
  readonly maxPartBytes?: number
}

export interface FileRoomDependencies extends UploadRecordsDependencies {
  readonly storage: FileStorage
  readonly links: Links
  readonly limits: FileLimits
  readonly log: { warn (fields: object, message: string): void }
}

export interface FileRoom extends Omit<FileRoomDependencies, 'store' | 'broadcast' | 'log'> {
  readonly files: KeptFiles
  readonly uploads: UploadRecords
  /** Ends the sweeps, and closes the storage. Does not wait long for a sweep whose storage is silent. */
  close (): Promise<void>
}

/** The time between two sweeps, in milliseconds. One of the replicas sweeps. */
const SWEEP_MS = 600_000
/** How long a shutdown waits for what a sweep is doing, in milliseconds. */
const CLOSE_MS = 1000
const toLateError = () => new Error('a sweep has not ended')

export function createFileRoom (
  { store, broadcast, log, ...shared }: FileRoomDependencies
): FileRoom {
  const { storage, limits, now } = shared
  let lastSweep: Promise<void> | undefined
  let isClosed = false
  const share = singleFlight(async () => {
    await sweep().catch((err: unknown) => {
      if (!isClosed) log.warn({ err }, 'expired files are not deleted')
    })
  })
  const timer = timers.setInterval(() => { lastSweep = share() }, SWEEP_MS).unref()

  /** Sweeps if this replica creates the record first. It lasts almost until the next sweep. */
  async function sweep (): Promise<void> {
    const idleMs = SWEEP_MS * 0.9
    const lifetime = { idleMs, endsAt: now() + idleMs }
    const turn = await store.create({ owner: 'files', name: 'sweep' }, EMPTY_VALUE, lifetime, 1)
    if (typeof turn !== 'string') await storage.sweep(now(), () => !isClosed)
  }

  return {
    ...shared,
    files: createKeptFiles(
      storage, createAccounts(store, limits.maxFileBytesPerCaller, now),
      new ArrivingBytes(new Limit('partBytes', limits.maxPartBytes))
    ),
    uploads: createUploadRecords({ store, broadcast, now }),
    async close () {
      timers.clear(timer)
      isClosed = true
      if (lastSweep !== undefined) await withinDeadline(lastSweep, CLOSE_MS, toLateError).catch(() => {})
      await storage.close()
    }
  }
}

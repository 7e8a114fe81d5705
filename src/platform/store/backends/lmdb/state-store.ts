// The store of one machine: a folder that survives restarts and crashes. Processes on the machine may share
// it.

import { singleFlight } from '../../../../base/single-flight.ts'
import { createForwardClock, timers } from '../../../../base/time.ts'
import type { DueTimes } from '../../records/due-times.ts'
import type { StateKey, StateStore } from '../../records/state-store.ts'
import { createLmdbDueTimes } from './due-times.ts'
import { createFolderCheck } from './folder-check.ts'
import { openLmdbFolder, removeUnusedFiles } from './folder.ts'
import { toId } from './record.ts'
import { createLmdbRecords } from './records.ts'
import { createTransactions } from './transactions.ts'

const SWEEP_MS = 30_000
/** Small, because sweeping one batch blocks the event loop. */
const SWEEP_BATCH = 200
const WRITE_DEADLINE_MS = 10_000

interface LmdbStateStoreOptions {
  /** Stores with different prefixes can share a folder; they share no records. `trivet` by default. */
  readonly prefix?: string
  /** The time in milliseconds since the epoch. A forward clock by default. */
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
  /** The outermost folder that was missing and was created. */
  readonly created: string | undefined
  /**
   * Runs the work while no other process writes to the folder. It blocks the thread. Throws if the database
   * was removed since it was opened.
   */
  exclusively<T> (work: () => T): T
  /**
   * Closes the store. Before that, removes its files if the folder was created for it and nothing was ever
   * written. Only for the process that has claimed the folder.
   * @param claim the name of the file that claims the folder.
   */
  closeAndTidy (claim: string): Promise<void>
}

/**
 * Creates a missing folder. Throws if the folder cannot be used. Many processes may open one folder, each of
 * them once: opening blocks the thread, and waits for a write of another store. A store of the same thread
 * could not finish that write.
 */
export function openLmdbStateStore (folder: string, options: LmdbStateStoreOptions = {}): LmdbStateStore {
  const { prefix = 'trivet', now = createForwardClock() } = options
  const { sweepMs = SWEEP_MS, writeDeadlineMs = WRITE_DEADLINE_MS, onBroken = () => {} } = options
  const folderDatabases = openLmdbFolder(folder, prefix)
  const { root, dueTimes, created, ...databases } = folderDatabases
  const check = createFolderCheck(folder, (error) => {
    // The sweep reads the file.
    timers.clear(timer)
    onBroken(error)
  })
  const transactions = createTransactions(root, check, writeDeadlineMs)
  const records = createLmdbRecords(databases, now)
  /** Checks that come together share a write. */
  const probe = singleFlight(async () => await transactions.write(() => records.probe()))
  let isExtending = false
  let isSweeping = false

  const timer = timers.setInterval(() => { if (!isSweeping) transactions.track(sweep()) }, sweepMs).unref()

  /** Runs in the background: reads do not wait for it. */
  async function writeUses (): Promise<void> {
    isExtending = true
    for (let uses = records.uses; uses.length > 0; uses = records.uses) {
      await transactions.write(() => {
        uses = records.uses
        records.writeUses(uses)
      }).catch(() => {
        // The records keep their earlier expiries. The next operation that writes reports the error.
      })
      records.forgetUses(uses)
    }
    isExtending = false
  }

  async function sweep (): Promise<void> {
    isSweeping = true
    try {
      while (transactions.isOpen && records.findDue(1).length > 0) {
        await transactions.write(() => {
          for (const entry of records.findDue(SWEEP_BATCH)) records.removeOrReschedule(entry)
        })
      }
    } catch {
      // The next sweep tries again. Reads ignore expired records in any case.
    }
    isSweeping = false
  }

  /** Finds the id first: what throws within a transaction fails the commit that others share. */
  async function write<T> (key: StateKey, work: (id: string) => T): Promise<T> {
    transactions.assertOpen()
    const id = toId(key)
    return await transactions.write(() => work(id))
  }

  function exclusively<T> (work: () => T): T {
    return root.transactionSync(() => {
      check.assertWhole()
      return work()
    })
  }

  function tidy (claim: string): void {
    if (created === undefined || !transactions.isOpen) return
    check.close()
    try {
      root.transactionSync(() => removeUnusedFiles(folder, folderDatabases, claim))
    } catch {
      // Files that nobody needs are left behind.
    }
  }

  function close (): Promise<void> {
    timers.clear(timer)
    return transactions.close()
  }

  return {
    created,
    exclusively,
    dueTimes: createLmdbDueTimes({ times: dueTimes, transactions, now }),
    create: async (key, { bytes }, lifetime, limit) => (
      await write(key, (id) => records.create(id, bytes, lifetime, limit))
    ),
    async read (key) {
      const id = toId(key)
      return transactions.read(() => records.read(id, () => {
        if (!isExtending) transactions.track(writeUses())
      }))
    },
    async peek (key) {
      const id = toId(key)
      return transactions.read(() => records.peek(id))
    },
    replace: async (key, version, { bytes }, lifetime) => (
      await write(key, (id) => records.replace(id, version, bytes, lifetime))
    ),
    // A transaction begins after all earlier commits, and fails if the file is not there any more.
    confirm: async (key, version) => await write(key, (id) => records.has(id, version)),
    delete: async (key) => await write(key, (id) => records.delete(id)),
    list: async (owner) => transactions.read(() => records.list(owner)),
    async check () {
      transactions.assertOpen()
      await probe()
    },
    close,
    async closeAndTidy (claim) {
      tidy(claim)
      await close()
    }
  }
}

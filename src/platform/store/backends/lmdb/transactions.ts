// The transactions of an open folder. LMDB waits for the disk and for other processes without a limit: a
// deadline limits the wait of callers.

import { withinDeadline } from '../../../../base/deadline.ts'
import { StoreUnavailable } from '../../records/state-store.ts'
import type { FolderCheck } from './folder-check.ts'
import type { LmdbFolder } from './folder.ts'

export type Transactions = ReturnType<typeof createTransactions>

export function createTransactions (root: LmdbFolder['root'], check: FolderCheck, deadlineMs: number) {
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  /** Throws a StoreUnavailable once the store is closed or broken. */
  function assertOpen (): void {
    if (closing !== undefined) throw new StoreUnavailable(new Error('the store is closed'))
    try {
      check.assertFoundWhole()
    } catch (error) {
      throw new StoreUnavailable(error)
    }
  }

  /** `close` waits for tracked work. */
  function track<T> (work: Promise<T>): Promise<T> {
    const forget = () => { underWay.delete(work) }
    underWay.add(work)
    work.then(forget, forget)
    return work
  }

  async function inTime<T> (work: Promise<T>): Promise<T> {
    const toError = () => new Error(`neither written nor refused within ${deadlineMs} ms`)
    return await withinDeadline(work, deadlineMs, toError)
  }

  /**
   * The reason of a failed commit is in a second promise, `commitError`. It rejects, and ends Node if nobody
   * handles it.
   */
  async function toCause (error: unknown): Promise<unknown> {
    if (!(error instanceof Error) || !('commitError' in error)) return error
    return await inTime(Promise.resolve(error.commitError)).then(() => error, (cause: unknown) => cause)
  }

  async function closeRoot (): Promise<void> {
    check.close()
    while (underWay.size > 0) await Promise.allSettled(underWay)
    // Rejects only if another process holds the folder's lock too long.
    await inTime(root.close()).catch(() => {})
  }

  return {
    assertOpen,
    track,
    /** Whether work may still begin. */
    get isOpen (): boolean { return closing === undefined && check.isWhole },
    /** Returns what `work` reads. Throws a StoreUnavailable. */
    read<T> (work: () => T): T {
      assertOpen()
      try {
        // LMDB reuses a read snapshot for a moment. Newer writes of other processes are missing in it.
        root.resetReadTxn()
        return work()
      } catch (error) {
        throw new StoreUnavailable(error)
      }
    },
    /**
     * Runs `work` as one transaction, and resolves once its commit is on the disk. Concurrent transactions
     * share a commit. An error in one transaction fails the shared commit.
     */
    async write<T> (work: () => T): Promise<T> {
      try {
        check.assertWhole()
        const result = await track(inTime(root.transaction(work)))
        // Again, because the folder may have been removed before the commit.
        check.assertWhole()
        return result
      } catch (error) {
        throw new StoreUnavailable(await toCause(error))
      }
    },
    close: async (): Promise<void> => await (closing ??= closeRoot())
  }
}

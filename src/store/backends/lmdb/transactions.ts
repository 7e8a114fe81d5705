// The transactions of an open folder. LMDB waits for the disk and for other processes without a limit: a
// deadline limits the wait of callers.

import { withinDeadline } from '../../../base/deadline.ts'
import { StoreUnavailable } from '../../records/state-store.ts'
import type { FolderCheck } from './folder-check.ts'
import type { LmdbFolder } from './folder.ts'

export class Transactions {
  readonly #root: LmdbFolder['root']
  readonly #check: FolderCheck
  readonly #deadlineMs: number
  readonly #underWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor (root: LmdbFolder['root'], check: FolderCheck, deadlineMs: number) {
    this.#root = root
    this.#check = check
    this.#deadlineMs = deadlineMs
  }

  /** Whether work may still begin. */
  get isOpen (): boolean { return this.#closing === undefined && this.#check.isWhole }

  /** Throws a StoreUnavailable once the store is closed or broken. */
  assertOpen (): void {
    if (this.#closing !== undefined) throw new StoreUnavailable(new Error('the store is closed'))
    try {
      this.#check.assertFoundWhole()
    } catch (error) {
      throw new StoreUnavailable(error)
    }
  }

  /** Returns what `work` reads. Throws a StoreUnavailable. */
  read<T> (work: () => T): T {
    this.assertOpen()
    try {
      // LMDB reuses a read snapshot for a moment. Newer writes of other processes are missing in it.
      this.#root.resetReadTxn()
      return work()
    } catch (error) {
      throw new StoreUnavailable(error)
    }
  }

  /**
   * Runs `work` as one transaction, and resolves once its commit is on the disk. Concurrent transactions
   * share a commit. An error in one transaction fails the shared commit.
   */
  async write<T> (work: () => T): Promise<T> {
    try {
      this.#check.assertWhole()
      const result = await this.track(this.#inTime(this.#root.transaction(work)))
      // Again, because the folder may have been removed before the commit.
      this.#check.assertWhole()
      return result
    } catch (error) {
      throw new StoreUnavailable(await this.#toCause(error))
    }
  }

  /** `close` waits for tracked work. */
  track<T> (work: Promise<T>): Promise<T> {
    const forget = () => { this.#underWay.delete(work) }
    this.#underWay.add(work)
    work.then(forget, forget)
    return work
  }

  async close (): Promise<void> {
    this.#closing ??= this.#close()
    await this.#closing
  }

  async #close (): Promise<void> {
    this.#check.close()
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
    // Rejects only if another process holds the folder's lock too long.
    await this.#inTime(this.#root.close()).catch(() => {})
  }

  async #inTime<T> (work: Promise<T>): Promise<T> {
    const toError = () => new Error(`neither written nor refused within ${this.#deadlineMs} ms`)
    return await withinDeadline(work, this.#deadlineMs, toError)
  }

  /**
   * The reason of a failed commit is in a second promise, `commitError`. It rejects, and ends Node if nobody
   * handles it.
   */
  async #toCause (error: unknown): Promise<unknown> {
    if (!(error instanceof Error) || !('commitError' in error)) return error
    return await this.#inTime(Promise.resolve(error.commitError)).then(() => error, (cause: unknown) => cause)
  }
}

// Writes the record of a task for one run, one write after the other. Writes are refused once a later run has
// begun: a replica that was paused cannot overwrite its successor.

import { retry } from '../base/retry.ts'
import { isTerminal } from '../protocol/tasks.ts'
import { RequestCancelled } from '../request/pipeline/lifetime.ts'
import { StoreUnavailable } from '../store/records/state-store.ts'
import type { TaskRecord } from './record.ts'
import type { StoredTask, TaskKey, TaskRecords } from './records.ts'

export interface TaskWriterDependencies {
  readonly records: TaskRecords
  /** How long the lease of a run lasts without renewal, in milliseconds. */
  readonly leaseMs: number
  /** Milliseconds since the epoch. */
  now (): number
  /** Whether the service is closing: writes are then not retried. */
  isClosing (): boolean
}

/** The task was cancelled, has expired, or runs on another replica. Its run here has no outcome. */
export class TaskLost extends RequestCancelled {
  constructor () {
    super()
    this.message = 'The task does not run on this replica any more'
  }
}

/** The pauses while the store is unavailable. */
const OUTAGE = { firstMs: 50, maxMs: 1000 }

export class TaskWriter {
  readonly key: TaskKey
  readonly #dependencies: TaskWriterDependencies
  readonly #run: number
  /** The state of the last write. */
  #stored: StoredTask
  #last: Promise<unknown>

  /** @param creating resolves when the record is in the store. */
  constructor (
    dependencies: TaskWriterDependencies, key: TaskKey, record: TaskRecord, creating: Promise<StoredTask>
  ) {
    this.#dependencies = dependencies
    this.key = key
    this.#run = record.run
    this.#stored = { record, version: '' }
    this.#last = creating.then((stored) => { this.#stored = stored })
    this.#last.catch(() => {})
  }

  get record (): TaskRecord { return this.#stored.record }

  /**
   * Resolves when the change is durable. Rejects with TaskLost if the run is no longer the current one.
   * @param change called after the writes before.
   */
  async write (change: () => Partial<TaskRecord>): Promise<void> {
    const writing = this.#last.then(async () => await this.#replace(change()))
    this.#last = writing.catch(() => {})
    await writing
  }

  /** Resolves to whether this is still the current run. */
  async isCurrent (): Promise<boolean> {
    const stored = await this.#dependencies.records.read(this.key)
    return stored !== undefined && this.#isOwn(stored.record)
  }

  /** Repeats the work while the store is unavailable. */
  async insist<T> (work: () => Promise<T>): Promise<T> {
    const mayRetry = (error: unknown) => error instanceof StoreUnavailable && !this.#dependencies.isClosing()
    return await retry(work, { ...OUTAGE, mayRetry })
  }

  async #replace (change: Partial<TaskRecord>): Promise<void> {
    const { records, now } = this.#dependencies
    const record = { ...this.record, ...change, updatedAt: now() }
    for (;;) {
      const { version } = this.#stored
      const replaced = await this.insist(async () => await records.replace(this.key, version, record))
      if (replaced !== undefined) {
        this.#stored = replaced
        return
      }
      // A write that timed out may have been applied. Repeat it: only an acknowledged write is durable.
      const current = await this.insist(async () => await records.read(this.key))
      if (current === undefined || !(isSame(current.record, record) || this.#isOwn(current.record))) {
        throw new TaskLost()
      }
      this.#stored = { record: this.record, version: current.version }
    }
  }

  #isOwn ({ run, isRunning, status }: TaskRecord): boolean {
    return run === this.#run && isRunning && !isTerminal(status)
  }
}

function isSame (one: TaskRecord, other: TaskRecord): boolean {
  return one.run === other.run && one.status === other.status && one.isRunning === other.isRunning &&
    one.updatedAt === other.updatedAt
}

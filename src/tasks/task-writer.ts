// Writes the record of a task for one run, one write after the other. A write is refused once another run has
// begun, so that a replica that was paused changes nothing when it continues.

import { timers } from '../base/time.ts'
import { isTerminal } from '../protocol/tasks.ts'
import { RequestCancelled } from '../request/pipeline/lifetime.ts'
import { StoreUnavailable } from '../store/records/state-store.ts'
import type { TaskRecord } from './task-record.ts'
import type { StoredTask, TaskKey, TaskRecords } from './task-records.ts'

export interface TaskWriterDependencies {
  readonly records: TaskRecords
  /** How long this replica has the task without renewing it, in milliseconds. */
  readonly leaseMs: number
  /** Milliseconds since the epoch. */
  now (): number
  /** Whether the service ends: nothing is tried again then. */
  isClosing (): boolean
}

/** The task was cancelled, has expired, or is run by another replica. Its run here has no outcome. */
export class TaskLost extends RequestCancelled {
  constructor () {
    super()
    this.message = 'The task does not run on this replica any more'
  }
}

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 1000

export class TaskWriter {
  readonly key: TaskKey
  readonly #dependencies: TaskWriterDependencies
  readonly #run: number
  /** As written last. */
  #stored: { readonly record: TaskRecord, readonly version: string }
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
   * Resolves when the change is durable. Rejects with TaskLost if the run is not the current one.
   * @param change made when the writes before have ended.
   */
  async write (change: () => Partial<TaskRecord>): Promise<void> {
    const written = this.#last.then(async () => await this.#replace(change()))
    this.#last = written.catch(() => {})
    await written
  }

  /** Whether no other run has begun, and the task has not ended. */
  async isCurrent (): Promise<boolean> {
    const found = await this.#dependencies.records.read(this.key)
    return found !== undefined && this.#isOwn(found.record)
  }

  /** Does the work again while the store is away. */
  async insist<T> (work: () => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || this.#dependencies.isClosing()) throw error
      }
      await timers.pause(pauseMs)
    }
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
      const found = await this.insist(async () => await records.read(this.key))
      // If the store was away and had done the write, it is written once more: nobody has said that it is
      // durable.
      const isKnown = found !== undefined && (isSame(found.record, record) || this.#isOwn(found.record))
      if (!isKnown) throw new TaskLost()
      this.#stored = { record: this.record, version: found.version }
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

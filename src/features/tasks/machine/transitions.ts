// Carries out what an event does to a task: writes the record, sets the due time, and tells the followers.

import { clock } from '../../../base/time.ts'
import type { DueTimes, StoreClock } from '../../../platform/store/records/due-times.ts'
import { newMark, retryOutage } from '../../../platform/store/records/lost-replies.ts'
import { isCounted, type TaskRecord } from '../records/record.ts'
import type { StoredTask, TaskKey, TaskRecords } from '../records/records.ts'
import type { TaskEvent } from './events.ts'
import { findTransition, type Transition } from './states.ts'

export interface TransitionDependencies {
  readonly records: TaskRecords
  readonly dueTimes: DueTimes
  readonly storeClock: StoreClock
  /** How long the lease of a run lasts without renewal, in milliseconds. */
  readonly leaseMs: number
  /** Tells all replicas that the status has changed. */
  announce (key: TaskKey, record: TaskRecord): void
  /** Called when the work of a task was undone, or could not be. */
  onUndone (record: TaskRecord): void
  /** Called for each due time that is set. */
  onDue (inMs: number): void
  /** Whether the service is closing: nothing is then repeated. */
  isClosing (): boolean
}

/** The record after an event. */
export interface Applied extends StoredTask {
  /** `undefined` if the event changed nothing. */
  readonly transition: Transition | undefined
  /** When the lease began at the latest, in milliseconds of the monotonic clock. */
  readonly heldAt: number
}

interface ApplyOptions {
  /** The record, if it was just read. */
  readonly from?: StoredTask
  /** Whether to wait for a store that is unavailable: nobody else repeats the event. */
  readonly isUrgent?: boolean
  /** Whether the event is for this record alone: after another write it does nothing. */
  readonly isForThis?: boolean
}

/** The pauses while the store is unavailable. */
const OUTAGE = { firstMs: 50, maxMs: 1000 }
/** A failure within this time is a lost connection, and is tried again. In milliseconds. */
const LOST_REPLY_MS = 500

export class Transitions {
  readonly #dependencies: TransitionDependencies

  constructor (dependencies: TransitionDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Resolves to the record after the event, or to `undefined` if the task does not exist any more, or if the
   * event is not for its record. The due time comes before the record if it becomes sooner, and after it if
   * it becomes later: a replica may be lost between any two writes.
   */
  async apply (
    key: TaskKey, event: TaskEvent, { from, isUrgent = false, isForThis = false }: ApplyOptions = {}
  ): Promise<Applied | undefined> {
    const { records, storeClock, announce, onUndone } = this.#dependencies
    const readRecord = async () => await this.#attempt(isUrgent, async () => await records.read(key))
    for (let stored = from ?? await readRecord(); stored !== undefined; stored = await readRecord()) {
      const { record: { generation } } = stored
      const heldAt = clock.monotonic()
      let transition = findTransition(stored.record, event, storeClock.now())
      if (transition?.isHeld === true) {
        await this.#attempt(isUrgent, async () => await this.hold(key, generation + 1))
        // The answer has told the time: a replica that has just started did not know that of the store.
        transition = findTransition(stored.record, event, storeClock.now())
      }
      if (transition === undefined) return { ...stored, transition, heldAt }
      const { record, isTold } = transition
      const next = record === undefined
        ? await this.#confirm(key, stored, transition, isUrgent)
        : await this.#replace(key, stored, record, isUrgent)
      if (next === undefined && isForThis) return undefined
      if (next === undefined) continue
      if (isTold) announce(key, next.record)
      if (stored.record.undo === 'due' && next.record.undo !== 'due') onUndone(next.record)
      await this.#attempt(isUrgent, async () => await this.#settle(key, transition, next.record))
      return { ...next, transition, heldAt }
    }
    return undefined
  }

  /** Makes the task due within a lease, unless a later generation has set its time. */
  async hold (key: TaskKey, generation: number): Promise<void> {
    await this.#setDue(key, this.#dependencies.leaseMs, generation)
  }

  /** Removes the due time of a task that does not exist. A call whose reply was lost must be repeated. */
  async removeDue (key: TaskKey): Promise<void> {
    await this.#dependencies.dueTimes.remove(key.entry)
    // A call may have created the record of its name meanwhile: the task would have no due time.
    if (await this.#dependencies.records.exists(key)) await this.hold(key, 0)
  }

  /** Repeats the work for as long as the store is away. */
  async insist<T> (work: () => Promise<T>): Promise<T> { return await this.#attempt(true, work) }

  /** Sets the due time after the write of the record. */
  async #settle (key: TaskKey, { due }: Transition, record: TaskRecord): Promise<void> {
    const { records, storeClock } = this.#dependencies
    if (typeof due !== 'number') return
    // Before the due time moves: if this replica is lost in between, the next one repeats it.
    if (!isCounted(record)) await records.release(key, record)
    await this.#setDue(key, Math.max(0, due - storeClock.now()), record.generation)
  }

  async #setDue ({ entry }: TaskKey, inMs: number, generation: number): Promise<void> {
    const { dueTimes, storeClock, leaseMs, onDue } = this.#dependencies
    const askedAt = clock.monotonic()
    // The next run may have begun meanwhile: its lease lasts.
    storeClock.note(await dueTimes.set(entry, inMs, generation, Math.max(inMs, leaseMs)), askedAt)
    onDue(inMs)
  }

  /**
   * Waits until a record that sets a due time is durable. Resolves to `undefined` if it was written again, or
   * if a failover has lost it: the earlier record may run, and is due sooner.
   */
  async #confirm (
    key: TaskKey, stored: StoredTask, { due }: Transition, isUrgent: boolean
  ): Promise<StoredTask | undefined> {
    const { records } = this.#dependencies
    if (typeof due !== 'number') return stored
    const isDurable = await this.#attempt(isUrgent, async () => await records.confirm(key, stored.version))
    return isDurable ? stored : undefined
  }

  /** Resolves to `undefined` if another write came first. */
  async #replace (
    key: TaskKey, stored: StoredTask, change: TaskRecord, isUrgent: boolean
  ): Promise<StoredTask | undefined> {
    const { records } = this.#dependencies
    const record = { ...change, generation: stored.record.generation + 1, mark: newMark() }
    let { version } = stored
    return await this.#attempt(isUrgent, async () => {
      for (;;) {
        const replaced = await records.replace(key, version, record)
        if (replaced !== undefined) return replaced
        const current = await records.read(key)
        if (current?.record.mark !== record.mark) return undefined
        // The write whose reply was lost was done. Repeat it: only an acknowledged write is durable.
        version = current.version
      }
    })
  }

  /**
   * Repeats the work: for as long as the store is away if it is urgent, else once after a lost connection.
   */
  async #attempt<T> (isUrgent: boolean, work: () => Promise<T>): Promise<T> {
    const { isClosing } = this.#dependencies
    return await retryOutage(work, {
      ...OUTAGE, forMs: isUrgent ? Infinity : LOST_REPLY_MS, mayGoOn: () => !isClosing()
    })
  }
}

/**
 * Whether a lease could end before its next regular renewal: what began it was slow.
 * @param begunAt when the lease began at the latest, in milliseconds of the monotonic clock.
 */
export function isShortLease (begunAt: number, leaseMs: number): boolean {
  return clock.monotonic() >= begunAt + leaseMs / 3
}

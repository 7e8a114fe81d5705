// Runs due tasks on this replica: those that have slept, and those whose replica was lost. One timer waits
// for the next due time, another renews the leases of the runs here.

import { clock, type Timer, timers } from '../../../base/time.ts'
import { holderOf } from '../../../platform/limits/holder.ts'
import { Limit } from '../../../platform/limits/limits.ts'
import { Used } from '../../../platform/limits/used.ts'
import { TaskNotReadable } from '../../../platform/protocol/errors.ts'
import type { ToolRuns } from '../../../request/pipeline/seams.ts'
import { retryOutage } from '../../../platform/store/records/lost-replies.ts'
import { callAgain, type LaterRunDependencies } from './later-run.ts'
import { pauseForOthers } from './no-outcome.ts'
import type { Handovers } from './handovers.ts'
import { toSender, type TaskRecord } from '../records/record.ts'
import { keyFrom, type StoredTask, type TaskKey } from '../records/records.ts'
import type { LeftReason, TaskReports } from './reports.ts'
import { TaskRun, type TaskRunDependencies } from './run.ts'
import type { TaskEvent } from '../machine/events.ts'
import { findTransition } from '../machine/states.ts'
import type { Applied, TransitionDependencies } from '../machine/transitions.ts'

export interface TaskRunnerDependencies extends
  TaskRunDependencies, LaterRunDependencies, Pick<TransitionDependencies, 'dueTimes'> {
  readonly reports: TaskReports
  readonly handovers: Handovers
  /** The most runs at once that no request began. 1,000 by default. */
  readonly maxRuns?: number
  /** Whether the catalog has tools whose calls become tasks. */
  isUsed (): boolean
}

/** How many due tasks one look takes. */
const BATCH = 32
/** The shortest time between two looks, and the time in which others look first, in milliseconds. */
const [MIN_PAUSE_MS, COURTESY_MS] = [5, 50]
/** The pauses after a renewal that has failed: two lost replies in a row would take the lease. */
const RENEWAL = { firstMs: 500, maxMs: 1000 }
/** The time between two looks of a replica without tools for tasks, in milliseconds. */
const REST_MS = 60_000

export class TaskRunner {
  readonly #dependencies: TaskRunnerDependencies
  readonly #runs = new Map<string, TaskRun>()
  /** The runs that no request began. */
  readonly #used: Used
  /** Since when this replica has looked without an outage or a pause, in monotonic milliseconds. */
  #steadySince = Infinity
  readonly #renewing: Timer
  #toolRuns: ToolRuns | undefined
  #timer: Timer | undefined
  #nextLookAt = Infinity
  /** The earliest due time that was set here since the look began. */
  #notedAt = Infinity
  #isLooking = false
  /** A replica without tools for tasks does not look before this time, of the monotonic clock. */
  #restsUntil = -Infinity
  /** Set by an outage. The next look is left out: first, all replicas renew the leases of their runs. */
  #mustSkip = false

  constructor (dependencies: TaskRunnerDependencies) {
    this.#dependencies = dependencies
    this.#used = new Used(new Limit('taskRuns', dependencies.maxRuns))
    this.#renewing = timers.setInterval(() => this.renewAll(), dependencies.leaseMs / 3).unref()
  }

  /** Begins to run due tasks. */
  start (toolRuns: ToolRuns): void {
    this.#toolRuns = toolRuns
    this.#steadySince = clock.monotonic()
    this.#schedule(0)
  }

  /** Runs no further tasks. */
  stopTaking (): void {
    this.#toolRuns = undefined
    timers.clear(this.#timer)
  }

  close (): void {
    this.stopTaking()
    timers.clear(this.#renewing)
  }

  /** How many tasks run here. */
  get running (): number { return this.#runs.size }

  /** Renews the lease of the run until it is removed. */
  add (run: TaskRun): void { this.#runs.set(run.key.entry, run) }

  remove (run: TaskRun): void {
    if (this.#runs.get(run.key.entry) === run) this.#runs.delete(run.key.entry)
  }

  isHere (entry: string): boolean { return this.#runs.has(entry) }

  /** Stops the run of the task that is here, if it has this number or an earlier one. */
  stop (entry: string, number: number): void {
    const run = this.#runs.get(entry)
    if (run !== undefined && run.number <= number) run.stop()
  }

  /** Looks for due tasks after this time at the latest. */
  noteDue (inMs: number): void {
    this.#notedAt = Math.min(this.#notedAt, clock.monotonic() + inMs)
    if (clock.monotonic() + inMs < this.#nextLookAt) this.#schedule(inMs)
  }

  /**
   * Whether this replica takes tasks, and its release knows the tool, takes the arguments, and may go on with
   * the task.
   */
  async mayRun (record: TaskRecord): Promise<boolean> {
    return !this.#dependencies.handovers.mustLeave(record) && await this.#accepts(record)
  }

  async #accepts ({ tool, args, undo }: TaskRecord): Promise<boolean> {
    return await this.#toolRuns?.accepts(tool, args, undo === 'due') === true
  }

  /** Whether the holder of the task may have one more run here. */
  hasRoom (record: TaskRecord): boolean {
    return this.#used.findRefusal(holderOf(toSender(record))) === undefined
  }

  /** Runs the handler of a task that was claimed. @param release ends the counting of the run. */
  run (key: TaskKey, stored: Applied, release = this.#reserve(stored.record)): void {
    const { record, heldAt } = stored
    const { reports, handovers } = this.#dependencies
    const run = TaskRun.resume(this.#dependencies, key, stored, heldAt)
    run.onEnd(release)
    this.add(run)
    reports.noteRun(key, record, handovers.findChanged(record))
    callAgain(this.#dependencies, run, record, () => this.#toolRuns)
  }

  #schedule (inMs: number): void {
    if (this.#toolRuns === undefined) return
    timers.clear(this.#timer)
    const pauseMs = Math.max(MIN_PAUSE_MS, Math.min(inMs, this.#dependencies.leaseMs / 2 + COURTESY_MS))
    this.#nextLookAt = clock.monotonic() + pauseMs
    this.#timer = timers.setTimeout(() => { this.#look() }, pauseMs).unref()
  }

  async #look (): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#noteGap(this.#nextLookAt)
    this.#notedAt = Infinity
    const { dueTimes, storeClock, leaseMs, log, reports, isUsed } = this.#dependencies
    let nextMs = leaseMs / 2
    try {
      if (this.#mustSkip) this.#mustSkip = false
      else if (this.#mayLook(isUsed())) {
        const takenAt = clock.monotonic()
        const { entries, nextInMs = Infinity, now } = await dueTimes.take(BATCH, leaseMs)
        storeClock.note(now, takenAt)
        this.#restsUntil = clock.monotonic() + (entries.length === 0 ? REST_MS : 0)
        await Promise.all(entries.map((entry) => this.#takeUp(keyFrom(entry), takenAt, now)))
        this.#noteGap(takenAt)
        // Other replicas look first at the tasks that were left to them.
        nextMs = Math.min(nextMs, nextInMs) + (reports.hasLeft ? COURTESY_MS : 0)
      }
    } catch (err) {
      this.#mustSkip = true
      this.#steadySince = clock.monotonic()
      log.warn({ err }, 'due tasks were not looked for')
    }
    this.#isLooking = false
    this.#schedule(Math.min(nextMs, this.#notedAt - clock.monotonic()))
  }

  /**
   * If this replica is late, it was paused: it does not know whether others reached the store meanwhile.
   * @param expectedAt when it should have come here, in monotonic milliseconds.
   */
  #noteGap (expectedAt: number): void {
    const now = clock.monotonic()
    if (now >= expectedAt + this.#dependencies.leaseMs / 2) this.#steadySince = now
  }

  /**
   * The first look is for the time of the store. A catalog that has tools for tasks no longer may have tasks:
   * they expire, and their entries are removed.
   */
  #mayLook (isUsed: boolean): boolean {
    if (!isUsed && clock.monotonic() < this.#restsUntil) return false
    return this.#used.findRefusal(undefined) === undefined
  }

  /** @param takenAt when the entry was taken at the earliest, monotonic. @param time by the store's clock. */
  async #takeUp (key: TaskKey, takenAt: number, time: number): Promise<void> {
    const { records, transitions, leaseMs, log } = this.#dependencies
    try {
      const stored = await records.read(key)
      this.#noteGap(takenAt)
      // Another replica has begun a run since. The clocks of two replicas may differ by a moment.
      if (stored?.record.isRunning === true && lastSeenAt(stored.record) > time - leaseMs / 10) return
      if (stored !== undefined) await this.#takeUpRecord(key, stored)
      else if (await records.exists(key)) await this.#leave(key, 'sealed')
      else await transitions.insist(async () => await transitions.removeDue(key))
    } catch (err) {
      if (err instanceof TaskNotReadable) return await this.#leave(key, 'newer')
      // The task is due again after the lease.
      log.warn({ err }, 'a due task was not run')
    }
  }

  /**
   * Takes up a task that another replica must leave, if it would run here now. No replica holds its due time:
   * the first one that writes the record runs it.
   */
  async takeOffered (key: TaskKey): Promise<void> {
    const { records, log } = this.#dependencies
    if (this.#toolRuns === undefined) return
    try {
      const stored = await records.read(key)
      // A task that runs has a lease, which only its due time ends.
      const isFree = stored?.record.isRunning === false && this.hasRoom(stored.record)
      if (isFree && this.#wouldRun(stored.record, false)) await this.#takeUpRecord(key, stored)
    } catch (err) {
      log.warn({ err }, 'a due task was not run')
    }
  }

  #wouldRun (record: TaskRecord, isHere: boolean): boolean {
    const due = { type: 'due', run: record.run, isHere, isOutdated: false } as const
    return findTransition(record, due, this.#dependencies.storeClock.now())?.isClaimed === true
  }

  async #takeUpRecord (key: TaskKey, stored: StoredTask): Promise<void> {
    const { transitions, reports, handovers } = this.#dependencies
    const { record } = stored
    const isHere = this.#runs.has(key.entry)
    const wouldRun = this.#wouldRun(record, isHere)
    if (wouldRun && !await this.#accepts(record)) return await this.#leave(key, 'unknown', record)
    const mustLeave = wouldRun && handovers.mustLeave(record)
    // A lost task waits first.
    if (mustLeave && !record.isRunning && !handovers.hadTime(record, this.#steadySince)) {
      handovers.offer(key, record)
      return await this.#leave(key, 'changed', record)
    }
    // The end of a task in changed code is undone by changed code too, if no replica has the earlier one.
    const isOutdated = mustLeave && record.undo === undefined
    reports.noteTaken(key)
    const mayRun = wouldRun && !isOutdated
    // Another replica, or a later look, takes the task.
    if (mayRun && !this.hasRoom(record)) return await this.#putBack(key, record)
    const release = mayRun ? this.#reserve(record) : undefined
    const due: TaskEvent = { type: 'due', run: record.run, isHere, isOutdated }
    // What another replica writes meanwhile has not had its time.
    const options = { from: stored, isForThis: isOutdated }
    const applied = await transitions.apply(key, due, options).catch((error: unknown) => {
      release?.()
      throw error
    })
    if (applied?.transition?.isClaimed === true) this.run(key, applied, release)
    else release?.()
    if (applied !== undefined) reports.noteLook(record, applied.record, handovers.findChanged(record))
  }

  /** Counts a run for the holder of the task. Returns what ends the counting. */
  #reserve (record: TaskRecord): () => void { return this.#used.add(holderOf(toSender(record))) }

  /**
   * Other replicas may have the secret, or a release that knows the tool. Without its record nobody knows
   * whether the task runs: it is due again after the lease for which it was taken.
   */
  async #leave (key: TaskKey, reason: LeftReason, record?: TaskRecord): Promise<void> {
    this.#dependencies.reports.noteLeft(key, reason, record)
    if (record !== undefined) await this.#putBack(key, record)
  }

  /** If the record was written since, the task is due as its writer says. */
  async #putBack ({ entry }: TaskKey, { generation }: TaskRecord): Promise<void> {
    const { dueTimes, leaseMs } = this.#dependencies
    await dueTimes.set(entry, pauseForOthers(leaseMs), generation, leaseMs)
  }

  /** Renews the leases of all runs here, and stops those that do not run here any more. */
  renewAll (): void {
    const { log, leaseMs } = this.#dependencies
    for (const run of this.#runs.values()) {
      const outage = { ...RENEWAL, forMs: leaseMs / 3, mayGoOn: () => this.isHere(run.key.entry) }
      retryOutage(async () => await run.renew(), outage).catch((err: unknown) => {
        log.warn({ err }, 'the lease of a task was not renewed')
      })
    }
  }
}

/** Returns when the run of the task was certainly alive, by the clock of the store. */
function lastSeenAt ({ updatedAt, claimedAt = updatedAt }: TaskRecord): number {
  return Math.max(updatedAt, claimedAt)
}

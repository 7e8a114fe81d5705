// Runs due tasks on this replica: those that have slept, and those whose replica was lost. One timer waits
// for the next due time, another renews the leases of the runs here.

import { clock, random, type Timer, timers } from '../base/time.ts'
import { holderOf, type Sender } from '../limits/holder.ts'
import { Limit } from '../limits/limits.ts'
import { Used } from '../limits/used.ts'
import type { Caller, RequestLog } from '../request/pipeline/caller.ts'
import type { ToolRuns, UndoneTask } from '../request/pipeline/seams.ts'
import { findResult } from '../request/questions/step-results.ts'
import type { TaskRecord } from './record.ts'
import { keyFrom, type StoredTask, type TaskKey } from './records.ts'
import { TaskLost, TaskRun, type TaskRunDependencies } from './run.ts'
import type { TaskEvent } from './events.ts'
import { findTransition } from './states.ts'
import type { Applied, TransitionDependencies } from './transitions.ts'

export interface TaskRunnerDependencies extends
  TaskRunDependencies, Pick<TransitionDependencies, 'dueTimes'> {
  readonly log: RequestLog & { child (bindings: object): RequestLog }
  /** Whether the catalog has tools whose calls become tasks. */
  isUsed (): boolean
}

/**
 * This replica lacks the secret of the record, or the release here has no such tool or other arguments of it.
 */
export type LeftReason = 'sealed' | 'unknown'

/** How many due tasks one look takes. */
const BATCH = 32
/** The shortest time between two looks, in milliseconds. */
const MIN_PAUSE_MS = 5
/** In milliseconds. */
const COURTESY_MS = 50
/** The time between two looks of a replica without tools for tasks, in milliseconds. */
const REST_MS = 60_000
/** How many tasks that were left are remembered: each is logged once. */
const MAX_LEFT = 1000

export class TaskRunner {
  readonly #dependencies: TaskRunnerDependencies
  readonly #runs = new Map<string, TaskRun>()
  /** The runs that no request began. */
  readonly #used = new Used(new Limit('taskRuns'))
  /** The tasks that were left to other replicas: each is logged once. */
  readonly #left = new Map<string, LeftReason>()
  /** How often a task was left to other replicas, by reason. */
  readonly left: { [K in LeftReason]: number } = { sealed: 0, unknown: 0 }
  /** How often the loss of a replica was noticed here, by how often in a row its task was lost. */
  readonly losses: { [inARow: number]: number } = { 1: 0, 2: 0, 3: 0, 4: 0 }
  /** How often the work of a task was undone, and how often that failed. */
  readonly undos = { done: 0, failed: 0 }
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
    this.#renewing = timers.setInterval(() => this.#renewAll(), dependencies.leaseMs / 3).unref()
  }

  /** Begins to run due tasks. */
  start (toolRuns: ToolRuns): void {
    this.#toolRuns = toolRuns
    this.#schedule(0)
  }

  /** Runs no further tasks. */
  stopTaking (): void {
    this.#toolRuns = undefined
    timers.clear(this.#timer)
  }

  /** How many tasks run here. */
  get running (): number { return this.#runs.size }

  /** Why this replica has left the task to others when it looked last. */
  leftReason (entry: string): LeftReason | undefined { return this.#left.get(entry) }

  close (): void { timers.clear(this.#renewing) }

  /** Renews the lease of the run until it is removed. */
  add (run: TaskRun): void { this.#runs.set(run.key.entry, run) }

  remove (run: TaskRun): void {
    if (this.#runs.get(run.key.entry) === run) this.#runs.delete(run.key.entry)
  }

  /** Stops the run of the task, if it is here. */
  stop (entry: string): void { this.#runs.get(entry)?.stop() }

  /** Looks for due tasks after this time at the latest. */
  noteDue (inMs: number): void {
    this.#notedAt = Math.min(this.#notedAt, clock.monotonic() + inMs)
    if (clock.monotonic() + inMs < this.#nextLookAt) this.#schedule(inMs)
  }

  /** Whether this replica takes tasks, and its release knows the tool and takes the arguments. */
  async mayRun ({ tool, args, undo }: Pick<TaskRecord, 'tool' | 'args' | 'undo'>): Promise<boolean> {
    return await this.#toolRuns?.accepts(tool, args, undo === 'due') === true
  }

  /** Whether the holder of the task may have one more run here. */
  hasRoom (record: TaskRecord): boolean {
    return this.#used.findRefusal(holderOf(toSender(record))) === undefined
  }

  /** Runs the handler of a task that was claimed. @param release ends the counting of the run. */
  run (key: TaskKey, stored: Applied, release = this.#reserve(stored.record)): void {
    const { log } = this.#dependencies
    const { record, record: { tool, args, requestId, client } } = stored
    const run = TaskRun.resume(this.#dependencies, key, stored, stored.heldAt)
    const sender = toSender(record)
    run.onEnd(release)
    this.add(run)
    const { revision, capabilities: clientCapabilities, info: clientInfo } = client
    const caller: Caller = {
      ...sender,
      envelope: { revision, clientCapabilities, clientInfo, logLevel: undefined, progressToken: undefined },
      requestId,
      log: log.child({ reqId: requestId })
    }
    // The service began to close meanwhile.
    if (this.#toolRuns === undefined) return run.giveBack()
    run.call().then(() => {
      if (this.#toolRuns === undefined) return run.giveBack()
      const { journal, timeoutMs } = run
      const toDeferral = run.toDeferral.bind(run)
      const undone = record.undo === undefined ? undefined : toUndone(record)
      this.#toolRuns.run({ tool, args, caller, journal, timeoutMs, undone, outlet: run, toDeferral })
    }, (err: unknown) => {
      if (!(err instanceof TaskLost)) log.warn({ err }, 'a due task was not run')
      run.leaveUnanswered()
    })
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
    this.#notedAt = Infinity
    const { dueTimes, storeClock, leaseMs, log, isUsed } = this.#dependencies
    let nextMs = leaseMs / 2
    try {
      if (this.#mustSkip) this.#mustSkip = false
      else if (this.#mayLook(isUsed())) {
        const { entries, nextInMs = Infinity, now } = await dueTimes.take(BATCH, leaseMs)
        storeClock.note(now)
        this.#restsUntil = clock.monotonic() + (entries.length === 0 ? REST_MS : 0)
        await Promise.all(entries.map((entry) => this.#takeUp(keyFrom(entry))))
        // Who has left tasks to others lets them look first.
        nextMs = Math.min(nextMs, nextInMs) + (this.#left.size > 0 ? COURTESY_MS : 0)
      }
    } catch (err) {
      this.#mustSkip = true
      log.warn({ err }, 'due tasks were not looked for')
    }
    this.#isLooking = false
    this.#schedule(Math.min(nextMs, this.#notedAt - clock.monotonic()))
  }

  /**
   * The first look is for the time of the store. A catalog that has tools for tasks no longer may have tasks:
   * they expire, and their entries are removed.
   */
  #mayLook (isUsed: boolean): boolean {
    if (!isUsed && clock.monotonic() < this.#restsUntil) return false
    return this.#used.findRefusal(undefined) === undefined
  }

  async #takeUp (key: TaskKey): Promise<void> {
    const { records, dueTimes, log } = this.#dependencies
    try {
      const stored = await records.read(key)
      if (stored !== undefined) await this.#takeUpRecord(key, stored)
      else if (await records.exists(key)) await this.#leave(key, 'sealed')
      else await dueTimes.remove(key.entry)
    } catch (err) {
      // The task is due again after the lease.
      log.warn({ err }, 'a due task was not run')
    }
  }

  async #takeUpRecord (key: TaskKey, stored: StoredTask): Promise<void> {
    const { transitions, storeClock } = this.#dependencies
    const { record } = stored
    const event: TaskEvent = { type: 'due', isHere: this.#runs.has(key.entry) }
    this.#left.delete(key.entry)
    let release: (() => void) | undefined
    if (findTransition(record, event, storeClock.now())?.isClaimed === true) {
      if (!await this.mayRun(record)) return await this.#leave(key, 'unknown', record)
      // Another replica, or a later look, takes the task.
      if (!this.hasRoom(record)) return await this.#putBack(key, record)
      release = this.#reserve(record)
    }
    const applied = await transitions.apply(key, event, { from: stored }).catch((error: unknown) => {
      release?.()
      throw error
    })
    if (applied?.transition?.isClaimed === true) this.run(key, applied, release)
    else release?.()
    if (applied !== undefined) this.#report(record, applied)
  }

  /** Counts a run for the holder of the task. Returns what ends the counting. */
  #reserve (record: TaskRecord): () => void { return this.#used.add(holderOf(toSender(record))) }

  /** Other replicas may have the secret, or a release that knows the tool. */
  async #leave (key: TaskKey, reason: LeftReason, record?: TaskRecord): Promise<void> {
    const { log } = this.#dependencies
    this.left[reason]++
    if (!this.#left.has(key.entry)) {
      if (this.#left.size >= MAX_LEFT) this.#left.clear()
      this.#left.set(key.entry, reason)
      log.warn({ reqId: record?.requestId, name: record?.tool }, LEFT[reason])
    }
    await this.#putBack(key, record)
  }

  /**
   * The pause is random, so that another replica takes the task. It is below a lease: the task may be
   * running.
   */
  async #putBack ({ entry }: TaskKey, record?: TaskRecord): Promise<void> {
    const { dueTimes, leaseMs } = this.#dependencies
    await dueTimes.set(entry, leaseMs * (1 + random.number()) / 4, record?.generation ?? 0)
  }

  #report ({ tool: name, requestId: reqId, losses }: TaskRecord, { record }: Applied): void {
    const { log } = this.#dependencies
    const facts = { reqId, name, losses: record.losses }
    const err = new Error(record.statusMessage)
    if (record.status === 'failed') log.warn({ ...facts, err }, 'task failed')
    if (record.losses <= losses) return
    this.losses[record.losses] = (this.losses[record.losses] ?? 0) + 1
    log.warn(facts, 'the replica of a task was lost')
  }

  #renewAll (): void {
    const { log } = this.#dependencies
    for (const run of this.#runs.values()) {
      run.renew().catch((err: unknown) => log.warn({ err }, 'the lease of a task was not renewed'))
    }
  }
}

const LEFT: { readonly [K in LeftReason]: string } = {
  sealed: 'a task was left to other replicas: TRIVET_SECRETS lacks the secret that sealed it',
  unknown: 'a task was left to other replicas: this catalog lacks its tool, or the tool refuses its arguments'
}

function toUndone ({ results }: TaskRecord): UndoneTask {
  return { resultOf: (key) => findResult(results, key) }
}

/** The caller that began the task, for limits and shares. */
function toSender ({ principal, network }: TaskRecord): Sender {
  return {
    principal: { ...principal, scopes: new Set(principal.scopes) },
    // The name of an IPv6 network is its first address.
    address: network?.replace('/64', '')
  }
}

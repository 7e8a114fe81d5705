// Runs due tasks on this replica: those that have slept, and those whose replica was lost. One timer waits
// for the next due time, another renews the leases of the runs here.

import { clock, type Timer, timers } from '../base/time.ts'
import { taskExpired, taskInterrupted, type ProtocolError } from '../protocol/errors.ts'
import { isTerminal } from '../protocol/tasks.ts'
import type { Caller, RequestLog, ResumedTask } from '../request/pipeline/caller.ts'
import type { Pipeline } from '../request/pipeline/pipeline.ts'
import type { DueTimes } from '../store/records/due-times.ts'
import { endTask, forgetTask, toTaskFailure } from './end.ts'
import { timeLeft, type TaskRecord } from './record.ts'
import { keyFrom, type StoredTask, type TaskKey } from './records.ts'
import { TaskRun, type TaskRunDependencies } from './run.ts'

export interface TaskRunnerDependencies extends TaskRunDependencies {
  readonly dueTimes: DueTimes
  readonly log: RequestLog & { child (bindings: object): RequestLog }
  /** Whether the catalog has tools whose calls become tasks. */
  isUsed (): boolean
}

/** How many due tasks one look takes. */
const BATCH = 32
/** The limit of runs on this replica. Further tasks wait, or run on other replicas. */
const MAX_RUNS = 1000
/** The shortest time between two looks, in milliseconds. */
const MIN_PAUSE_MS = 5

export class TaskRunner {
  readonly #dependencies: TaskRunnerDependencies
  readonly #runs = new Map<string, TaskRun>()
  readonly #renewing: Timer
  #pipeline: Pipeline | undefined
  #timer: Timer | undefined
  #nextLookAt = Infinity
  #isLooking = false
  /** Set by an outage. The next look is left out: first, all replicas renew the leases of their runs. */
  #mustSkip = false

  constructor (dependencies: TaskRunnerDependencies) {
    this.#dependencies = dependencies
    this.#renewing = timers.setInterval(() => this.#renewAll(), dependencies.leaseMs / 3).unref()
  }

  /** Begins to run tasks through this pipeline. */
  start (pipeline: Pipeline): void {
    this.#pipeline = pipeline
    this.#schedule(0)
  }

  /** Whether this replica takes tasks. */
  get isTaking (): boolean { return this.#pipeline !== undefined }

  /** Runs no further tasks. */
  stopTaking (): void {
    this.#pipeline = undefined
    timers.clear(this.#timer)
  }

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
    if (clock.monotonic() + inMs < this.#nextLookAt) this.#schedule(inMs)
  }

  /** Runs the task here. Resolves to whether the record was unchanged since it was read. */
  async resume (key: TaskKey, stored: StoredTask, change: Partial<TaskRecord>): Promise<boolean> {
    const { records, announce, log, now } = this.#dependencies
    const { record, version } = stored
    const pipeline = this.#pipeline
    if (pipeline === undefined) return false
    const next: TaskRecord = {
      ...record,
      ...change,
      status: 'working',
      run: record.run + 1,
      isRunning: true,
      wakesAt: undefined,
      updatedAt: now()
    }
    const replaced = await records.replace(key, version, next)
    if (replaced === undefined) return false
    if (record.status !== 'working') announce(key, false)
    const run = TaskRun.resume(this.#dependencies, key, replaced)
    this.add(run)
    const { tool: name, args, requestId } = next
    const params = { name, ...(args !== undefined && { arguments: args }) }
    const caller = toTaskCaller(next, run, log.child({ reqId: requestId }))
    pipeline.serve({ id: key.id, method: 'tools/call', params }, caller, run)
    return true
  }

  #schedule (inMs: number): void {
    if (this.#pipeline === undefined) return
    timers.clear(this.#timer)
    const pauseMs = Math.max(MIN_PAUSE_MS, Math.min(inMs, this.#dependencies.leaseMs / 2))
    this.#nextLookAt = clock.monotonic() + pauseMs
    this.#timer = timers.setTimeout(() => { this.#look() }, pauseMs).unref()
  }

  async #look (): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const { dueTimes, leaseMs, log, isUsed } = this.#dependencies
    let nextMs = leaseMs / 2
    try {
      if (this.#mustSkip) this.#mustSkip = false
      else if (isUsed() && this.#runs.size < MAX_RUNS) {
        const { entries, nextInMs = Infinity } = await dueTimes.take(BATCH, leaseMs)
        await Promise.all(entries.map((entry) => this.#takeUp(entry)))
        nextMs = Math.min(nextMs, nextInMs)
      }
    } catch (err) {
      this.#mustSkip = true
      log.warn({ err }, 'due tasks were not looked for')
    }
    this.#isLooking = false
    this.#schedule(nextMs)
  }

  async #takeUp (entry: string): Promise<void> {
    const { records, dueTimes, log } = this.#dependencies
    try {
      const key = keyFrom(entry)
      const stored = await records.read(key)
      if (stored === undefined) await dueTimes.remove(entry)
      else if (isTerminal(stored.record.status)) await forgetTask(this.#dependencies, key, stored.record)
      else await this.#takeUpUnfinished(key, stored)
    } catch (err) {
      // The task is due again after the lease.
      log.warn({ err }, 'a due task was not run')
    }
  }

  async #takeUpUnfinished (key: TaskKey, stored: StoredTask): Promise<void> {
    const { dueTimes, leaseMs, now } = this.#dependencies
    const { record, record: { isRunning, mayRerun, wakesAt, ttlMs } } = stored
    const leftMs = timeLeft(record, now())
    // The event loop was busy: the lease of a run here was not renewed in time.
    if (this.#runs.has(key.entry)) await dueTimes.set(key.entry, leaseMs)
    else if (leftMs === 0) await this.#fail(key, stored, taskExpired(ttlMs))
    else if (isRunning && !mayRerun) await this.#fail(key, stored, taskInterrupted('The replica was lost'))
    else if (isRunning || wakesAt !== undefined) await this.resume(key, stored, endSleeps(record))
    else await dueTimes.set(key.entry, leftMs)
  }

  async #fail (key: TaskKey, stored: StoredTask, error: ProtocolError): Promise<void> {
    const { requestId, tool } = stored.record
    if (!await endTask(this.#dependencies, key, stored, toTaskFailure(error))) return
    this.#dependencies.log.warn({ reqId: requestId, name: tool, err: error }, 'task failed')
  }

  #renewAll (): void {
    const { log } = this.#dependencies
    for (const run of this.#runs.values()) {
      run.renew().catch((err: unknown) => log.warn({ err }, 'the lease of a task was not renewed'))
    }
  }
}

/** Marks the sleeps that are due as over. Ignores the clock of this replica: it may differ. */
function endSleeps ({ sleeps, wakesAt = 0 }: TaskRecord): Pick<TaskRecord, 'sleeps'> {
  const entries = Object.entries(sleeps).map(([index, endsAt]) => [index, endsAt <= wakesAt ? 0 : endsAt])
  return { sleeps: Object.fromEntries(entries) }
}

/** Returns the caller of a later run: the principal and the client of the original call. */
function toTaskCaller (
  { principal, client, requestId }: TaskRecord, task: ResumedTask, log: RequestLog
): Caller {
  const { revision, capabilities: clientCapabilities, info: clientInfo } = client
  return {
    principal: { ...principal, scopes: new Set(principal.scopes) },
    envelope: { revision, clientCapabilities, clientInfo, logLevel: undefined, progressToken: undefined },
    requestId,
    log,
    task
  }
}

// Runs tasks again on this replica: those whose time has come, and those whose replica was lost. It has one
// timer for the next due time, and one that renews the leases of what runs here.

import { clock, type Timer, timers } from '../base/time.ts'
import { taskExpired, taskInterrupted, type ProtocolError } from '../protocol/errors.ts'
import { isTerminal } from '../protocol/tasks.ts'
import type { RequestLog } from '../request/pipeline/caller.ts'
import type { Pipeline } from '../request/pipeline/pipeline.ts'
import type { DueTimes } from '../store/records/due-times.ts'
import { toTaskCaller } from './task-caller.ts'
import { endTask, forgetTask, toTaskFailure } from './task-end.ts'
import { timeLeft, type TaskRecord } from './task-record.ts'
import { keyFrom, type StoredTask, type TaskKey } from './task-records.ts'
import { TaskRun, type TaskRunDependencies } from './task-run.ts'

export interface TaskRunnerDependencies {
  readonly run: TaskRunDependencies
  readonly dueTimes: DueTimes
  readonly log: RequestLog & { child (bindings: object): RequestLog }
  /** Whether the catalog has tools whose calls become tasks. */
  hasTasks (): boolean
}

export interface TaskRunner {
  /** Runs tasks through this pipeline from now on. */
  start (pipeline: Pipeline): void
  /** Renews the lease of the run until it ends. */
  add (run: TaskRun): void
  /** Runs the task here, if its record is still this one. Resolves to whether it was. */
  resume (key: TaskKey, stored: StoredTask, change: Partial<TaskRecord>): Promise<boolean>
  /** Whether tasks may be run here. */
  readonly isTaking: boolean
  /** Looks for due tasks after this time at the latest. */
  noteDue (inMs: number): void
  /** Stops the run of the task, if it is here. */
  stop (entry: string): void
  /** Ends the renewal of a run. */
  remove (run: TaskRun): void
  /** Runs no further tasks. */
  stopTaking (): void
  close (): void
}

/** How many tasks are taken at once. The next ones are taken when these have begun. */
const BATCH = 32
/** How many tasks run here at once. The others wait, or run on other replicas. */
const MAX_RUNS = 1000
/** Between two looks for due tasks, in milliseconds. */
const MIN_PAUSE_MS = 5

export function createTaskRunner (dependencies: TaskRunnerDependencies): TaskRunner {
  const { run: runDependencies, dueTimes, log, hasTasks } = dependencies
  const { records, now, leaseMs, announce } = runDependencies
  const runs = new Map<string, TaskRun>()
  let pipeline: Pipeline | undefined
  let timer: Timer | undefined
  let nextLookAt = Infinity
  let isLooking = false
  /** After an outage all replicas renew their leases before any of them takes a task of another one. */
  let isWaiting = false
  const renewing = timers.setInterval(renewAll, leaseMs / 3).unref()

  function schedule (inMs: number): void {
    if (pipeline === undefined) return
    timers.clear(timer)
    const pauseMs = Math.max(MIN_PAUSE_MS, Math.min(inMs, leaseMs / 2))
    nextLookAt = clock.monotonic() + pauseMs
    timer = timers.setTimeout(look, pauseMs).unref()
  }

  async function look (): Promise<void> {
    if (isLooking) return
    isLooking = true
    let nextMs = leaseMs / 2
    try {
      if (isWaiting) isWaiting = false
      else if (hasTasks() && runs.size < MAX_RUNS) {
        const { entries, nextInMs = Infinity } = await dueTimes.take(BATCH, leaseMs)
        await Promise.all(entries.map(takeUp))
        nextMs = Math.min(nextMs, nextInMs)
      }
    } catch (err) {
      isWaiting = true
      log.warn({ err }, 'due tasks were not looked for')
    }
    isLooking = false
    schedule(nextMs)
  }

  async function takeUp (entry: string): Promise<void> {
    try {
      const key = keyFrom(entry)
      const stored = await records.read(key)
      if (stored === undefined) return await dueTimes.remove(entry)
      if (isTerminal(stored.record.status)) return await forgetTask(runDependencies, key, stored.record)
      await takeUpRecord(key, stored)
    } catch (err) {
      // The task is due again when its lease has ended.
      log.warn({ err }, 'a due task was not run')
    }
  }

  async function takeUpRecord (key: TaskKey, stored: StoredTask): Promise<void> {
    const { record, record: { isRunning, mayRerun, wakesAt, ttlMs } } = stored
    const leftMs = timeLeft(record, now())
    // Its lease is renewed too late: the event loop was busy.
    if (runs.has(key.entry)) await dueTimes.set(key.entry, leaseMs)
    else if (leftMs === 0) await fail(key, stored, taskExpired(ttlMs))
    else if (isRunning && !mayRerun) await fail(key, stored, taskInterrupted('The replica was lost'))
    else if (isRunning || wakesAt !== undefined) await resume(key, stored, endSleeps(record))
    else await dueTimes.set(key.entry, leftMs)
  }

  async function fail (key: TaskKey, stored: StoredTask, error: ProtocolError): Promise<void> {
    const { requestId, tool } = stored.record
    if (!await endTask(runDependencies, key, stored, toTaskFailure(error))) return
    log.warn({ reqId: requestId, name: tool, err: error }, 'task failed')
  }

  async function resume (key: TaskKey, stored: StoredTask, change: Partial<TaskRecord>): Promise<boolean> {
    const { record, version } = stored
    const through = pipeline
    if (through === undefined) return false
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
    const run = TaskRun.resume(runDependencies, key, replaced)
    runs.set(key.entry, run)
    const { tool: name, args, requestId } = next
    const params = { name, ...(args !== undefined && { arguments: args }) }
    const caller = toTaskCaller(next, run, log.child({ reqId: requestId }))
    through.serve({ id: key.id, method: 'tools/call', params }, caller, run)
    return true
  }

  function renewAll (): void {
    for (const run of runs.values()) {
      run.renew().catch((err: unknown) => log.warn({ err }, 'the lease of a task was not renewed'))
    }
  }

  function noteDue (inMs: number): void {
    if (clock.monotonic() + inMs < nextLookAt) schedule(inMs)
  }

  return {
    get isTaking () { return pipeline !== undefined },
    start (given) {
      pipeline = given
      schedule(0)
    },
    add (run) { runs.set(run.key.entry, run) },
    resume,
    noteDue,
    stop: (entry) => runs.get(entry)?.stop(),
    stopTaking () {
      pipeline = undefined
      timers.clear(timer)
    },
    remove (run) { if (runs.get(run.key.entry) === run) runs.delete(run.key.entry) },
    close () { timers.clear(renewing) }
  }
}

/** The sleep whose time has come is over. Its end is not compared with the clock of this replica. */
function endSleeps ({ sleeps, wakesAt = 0 }: TaskRecord): Pick<TaskRecord, 'sleeps'> {
  const ended = Object.entries(sleeps).map(([at, endsAt]) => [at, endsAt <= wakesAt ? 0 : endsAt])
  return { sleeps: Object.fromEntries(ended) }
}

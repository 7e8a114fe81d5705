// One run of a task's handler on this replica. It writes the journal and the progress to the record, and
// decides how the run ends.

import {
  resultTooLarge, taskExpired, taskInterrupted, tooManyQuestions, type ProtocolError
} from '../protocol/errors.ts'
import type { Progress } from '../protocol/notifications.ts'
import type { Outlet, ResumedTask } from '../request/pipeline/caller.ts'
import {
  HandlerTimeout, RequestCancelled, ServiceClosing, type Lifetime
} from '../request/pipeline/lifetime.ts'
import { MAX_TIMER_MS } from '../request/questions/run-step.ts'
import type { MessageSink } from '../store/changes/message-sink.ts'
import { finishTask, releaseTask, suspendTask, toTaskFailure, type TaskEndDependencies } from './end.ts'
import { TaskJournal } from './journal.ts'
import { timeLeft, type TaskRecord } from './record.ts'
import type { StoredTask, TaskKey } from './records.ts'
import { TaskLost, TaskWriter } from './writer.ts'

export interface TaskRunDependencies extends TaskEndDependencies {
  /** Called when the handler has ended. @param writing settles with the last writes of the run. */
  onEnd (run: TaskRun, writing: Promise<void>): void
}

/** A limit refuses the run for now. The task runs later. */
class TaskDeferred extends RequestCancelled {}

/** The shortest time between two writes of progress, in milliseconds. */
const PROGRESS_MS = 1000
const MAX_MESSAGE_LENGTH = 1000
/** The limit of questions of one task. A question that is repeated after an unfit answer counts again. */
const MAX_QUESTIONS = 200
/** The limit of a result, in bytes of JSON. */
const MAX_RESULT_BYTES = 1_048_576

export class TaskRun implements Outlet, ResumedTask {
  readonly journal: TaskJournal
  readonly #dependencies: TaskRunDependencies
  readonly #writer: TaskWriter
  #lifetime: Lifetime | undefined
  #stopReason: Error | undefined
  #message: string | undefined
  #progressAt = -Infinity
  #deferMs: number | undefined
  #isEnding = false
  #keeping: Promise<void> | undefined

  /** @param creating rejects if the record cannot be created. The caller then detaches the journal. */
  constructor (
    dependencies: TaskRunDependencies, journal: TaskJournal, key: TaskKey, record: TaskRecord,
    creating: Promise<StoredTask>
  ) {
    this.#dependencies = dependencies
    this.journal = journal
    this.#writer = new TaskWriter(dependencies, key, record, creating)
    this.#message = record.statusMessage
    journal.attach(record, () => this.#keep())
  }

  /** Creates the next run of a stored task. */
  static resume (dependencies: TaskRunDependencies, key: TaskKey, stored: StoredTask): TaskRun {
    const { record } = stored
    const journal = new TaskJournal(record.ttlMs, dependencies.now)
    journal.restore(record)
    return new TaskRun(dependencies, journal, key, record, Promise.resolve(stored))
  }

  get key (): TaskKey { return this.#writer.key }

  /** The time limit of the run. */
  get timeoutMs (): number {
    return Math.min(MAX_TIMER_MS, timeLeft(this.#writer.record, this.#dependencies.now()))
  }

  attach (lifetime: Lifetime): void {
    this.#lifetime = lifetime
    lifetime.onStop((reason) => { this.#stopReason = reason })
    if (this.#stopReason !== undefined) lifetime.stop(this.#stopReason)
  }

  /** Ends the run without an outcome: the task was cancelled, or runs on another replica. */
  stop (): void {
    this.#stopReason ??= new TaskLost()
    this.#lifetime?.stop(this.#stopReason)
  }

  /** Renews the lease. Stops the run if it is no longer the current one. */
  async renew (): Promise<void> {
    const { key, record } = this.#writer
    if (!await this.#writer.isCurrent()) return this.stop()
    // The end of the run may have set the due time of a sleep.
    if (this.#isEnding) return
    await this.#dependencies.setDue(key, this.#dependencies.leaseMs)
    if (this.#message !== record.statusMessage) await this.#write()
  }

  toDeferral (retryAfterSeconds: number): Error {
    this.#deferMs = retryAfterSeconds * 1000
    return new TaskDeferred()
  }

  onPending (lifetime: Lifetime): void { this.attach(lifetime) }

  /** Drops the log message: a task has no stream to its client. */
  notify (): void {}

  progress ({ progress, total, message }: Progress): void {
    const numbers = total === undefined ? String(progress) : `${progress} of ${total}`
    this.#message = (message ?? numbers).slice(0, MAX_MESSAGE_LENGTH)
    const now = this.#dependencies.now()
    if (now < this.#progressAt + PROGRESS_MS) return
    this.#progressAt = now
    // If the store stays unavailable, the end of the run fails too, and is logged.
    this.#write().catch(() => {})
  }

  succeed (result: string | Buffer): void {
    const { asked, isSuspended } = this.journal
    if (this.#stopReason instanceof HandlerTimeout) return this.#expire()
    if (Object.keys(this.#writer.record.questions).length + asked.size > MAX_QUESTIONS) {
      return this.#finish(toTaskFailure(tooManyQuestions(MAX_QUESTIONS)))
    }
    if (asked.size > 0 || isSuspended) {
      return this.#end(suspendTask(this.#dependencies, this.#writer, this.journal, this.#write))
    }
    if (Buffer.byteLength(result) > MAX_RESULT_BYTES) {
      return this.fail(resultTooLarge(`the result of a task may have ${MAX_RESULT_BYTES} bytes of JSON`))
    }
    this.#finish({ status: 'completed', statusMessage: undefined, result: String(result) })
  }

  fail (error: ProtocolError): void {
    if (this.#stopReason instanceof HandlerTimeout) return this.#expire()
    if (!(this.#stopReason instanceof ServiceClosing)) return this.#finish(toTaskFailure(error))
    if (this.#writer.record.mayRerun) this.#release(0)
    else this.#finish(toTaskFailure(taskInterrupted('The replica was stopped')))
  }

  leaveUnanswered (): void {
    if (this.#deferMs === undefined) this.#end(Promise.resolve())
    else this.#release(this.#deferMs)
  }

  openStream (): MessageSink { throw new TypeError('a task has no stream') }

  #expire (): void {
    this.#finish(toTaskFailure(taskExpired(this.#writer.record.ttlMs)))
  }

  #finish (change: Partial<TaskRecord>): void {
    this.#end(finishTask(this.#dependencies, this.#writer, this.#write, change))
  }

  #release (inMs: number): void {
    this.#end(releaseTask(this.#dependencies, this.#writer, this.#write, inMs))
  }

  #end (writing: Promise<void>): void {
    this.#isEnding = true
    this.#dependencies.onEnd(this, writing)
  }

  /** Shares a write that has not begun: it will have all results so far. */
  #keep (): Promise<void> {
    this.#keeping ??= this.#write(() => {
      this.#keeping = undefined
      return {}
    })
    return this.#keeping
  }

  /** @param change called after the writes before. */
  readonly #write = async (change: () => Partial<TaskRecord> = () => ({})): Promise<void> => {
    const toChange = () => ({ statusMessage: this.#message, ...this.journal.members, ...change() })
    await this.#writer.write(toChange).catch((error: unknown) => {
      // The record could not be created: the call continues as an ordinary one.
      if (!this.journal.isTask) return
      if (error instanceof TaskLost) this.stop()
      throw error
    })
  }
}

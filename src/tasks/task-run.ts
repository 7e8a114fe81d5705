// One run of a task's handler on this replica: keeps what the handler does in the task's record, and decides
// how the run ends.

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
import { finishTask, releaseTask, suspendTask, toTaskFailure, type TaskEndDependencies } from './task-end.ts'
import { TaskJournal } from './task-journal.ts'
import { timeLeft, type TaskRecord } from './task-record.ts'
import type { StoredTask, TaskKey } from './task-records.ts'
import { MAX_QUESTIONS, MAX_RESULT_BYTES } from './task-sizes.ts'
import { TaskLost, TaskWriter } from './task-writer.ts'

export interface TaskRunDependencies extends TaskEndDependencies {
  /** Called with the last writes of a run, when its handler has ended. */
  onEnd (run: TaskRun, written: Promise<void>): void
}

/** A limit refuses the run now. Not an error: the task runs later. */
class TaskDeferred extends RequestCancelled {}

/** How often progress is written at most, in milliseconds. */
const PROGRESS_MS = 1000
const MAX_MESSAGE_LENGTH = 1000

export class TaskRun implements Outlet, ResumedTask {
  readonly journal: TaskJournal
  readonly #dependencies: TaskRunDependencies
  readonly #writer: TaskWriter
  #lifetime: Lifetime | undefined
  #stopReason: Error | undefined
  #message: string | undefined
  #toldAt = -Infinity
  #deferMs: number | undefined
  #isEnding = false
  #keeping: Promise<void> | undefined

  /** @param creating rejects if the record cannot be created. The journal is then to be detached. */
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

  /** Continues from what the record has. */
  static resume (dependencies: TaskRunDependencies, key: TaskKey, stored: StoredTask): TaskRun {
    const { record } = stored
    const journal = new TaskJournal(record.ttlMs, dependencies.now)
    journal.restore(record)
    return new TaskRun(dependencies, journal, key, record, Promise.resolve(stored))
  }

  get key (): TaskKey { return this.#writer.key }

  /** The time limit of a run. */
  get timeoutMs (): number {
    return Math.min(MAX_TIMER_MS, timeLeft(this.#writer.record, this.#dependencies.now()))
  }

  attach (lifetime: Lifetime): void {
    this.#lifetime = lifetime
    lifetime.onStop((reason) => { this.#stopReason = reason })
    if (this.#stopReason !== undefined) lifetime.stop(this.#stopReason)
  }

  /** Ends the run without an outcome: the task was cancelled, or another replica runs it. */
  stop (): void {
    this.#stopReason ??= new TaskLost()
    this.#lifetime?.stop(this.#stopReason)
  }

  /** Says that this replica still runs the task. Stops the run if another one does. */
  async renew (): Promise<void> {
    const { key, record } = this.#writer
    if (!await this.#writer.isCurrent()) return this.stop()
    // Another time may have been set since: that of a sleep.
    if (this.#isEnding) return
    await this.#dependencies.setDue(key, this.#dependencies.leaseMs)
    if (this.#message !== record.statusMessage) await this.#write()
  }

  toDeferral (retryAfterSeconds: number): Error {
    this.#deferMs = retryAfterSeconds * 1000
    return new TaskDeferred()
  }

  onPending (lifetime: Lifetime): void { this.attach(lifetime) }

  /** Messages of the log are for the client of a request. A task has none. */
  notify (): void {}

  progress ({ progress, total, message }: Progress): void {
    const numbers = total === undefined ? String(progress) : `${progress} of ${total}`
    this.#message = (message ?? numbers).slice(0, MAX_MESSAGE_LENGTH)
    const now = this.#dependencies.now()
    if (now < this.#toldAt + PROGRESS_MS) return
    this.#toldAt = now
    // The end of the run reports a store that stays away.
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

  /** @param written settles with the last writes of the run. */
  #end (written: Promise<void>): void {
    this.#isEnding = true
    this.#dependencies.onEnd(this, written)
  }

  /** Results that come while a write waits for the one before it are in that write. */
  #keep (): Promise<void> {
    this.#keeping ??= this.#write(() => {
      this.#keeping = undefined
      return {}
    })
    return this.#keeping
  }

  /** @param change made when the writes before have ended. */
  readonly #write = async (change: () => Partial<TaskRecord> = () => ({})): Promise<void> => {
    const toChange = () => ({ statusMessage: this.#message, ...this.journal.members, ...change() })
    await this.#writer.write(toChange).catch((error: unknown) => {
      // The record could not be created, and the call goes on without it.
      if (!this.journal.isTask) return
      if (error instanceof TaskLost) this.stop()
      throw error
    })
  }
}

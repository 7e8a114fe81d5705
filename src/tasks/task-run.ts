// One run of a task's handler on this replica: keeps what the handler does in the task's record, and how the
// run ends.

import type { Outlet, ResumedTask } from '../dispatch/caller.ts'
import { HandlerTimeout, RequestCancelled, ServiceClosing, type Lifetime } from '../dispatch/lifetime.ts'
import { MAX_TIMER_MS } from '../dispatch/run-step.ts'
import type { MessageSink } from '../events/message-sink.ts'
import { Suspended, type Journal, type RequestState } from '../input/journal.ts'
import {
  resultTooLarge, taskExpired, taskInterrupted, tooManyQuestions, type ProtocolError
} from '../protocol/errors.ts'
import type { Progress } from '../protocol/notifications.ts'
import { findStateExcess, MAX_QUESTIONS, MAX_RESULT_BYTES } from './task-sizes.ts'
import { addQuestions } from './task-questions.ts'
import { timeLeft, type TaskRecord } from './task-record.ts'
import type { StoredTask, TaskKey } from './task-records.ts'
import { TaskLost, TaskWriter, type TaskWriterDependencies } from './task-writer.ts'

export interface TaskRunDependencies extends TaskWriterDependencies {
  /** Makes the task due after this time. */
  setDue (key: TaskKey, inMs: number): Promise<void>
  removeDue (key: TaskKey): Promise<void>
  /** Tells all replicas that the status has changed. */
  announce (key: TaskKey, isOver: boolean): void
  /** Called with the last writes of a run, when its handler has ended. */
  onEnd (run: TaskRun, written: Promise<void>): void
}

/** Made when it is first needed: most calls that may become tasks need none of it. */
interface Kept {
  readonly state: RequestState
  /** What the client must answer before the handler runs again. */
  readonly asked: Map<string, string>
  /** When each sleep ends, by its position among the sleeps of the handler. */
  readonly sleeps: Map<string, number>
}

/** A limit refuses the run now. Not an error: the task runs later. */
class TaskDeferred extends RequestCancelled {}

/** A shorter sleep waits in the process, in milliseconds. */
const SUSPEND_MS = 1000
/** How often progress is written at most, in milliseconds. */
const PROGRESS_MS = 1000
const MAX_MESSAGE_LENGTH = 1000

export class TaskRun implements Journal, Outlet, ResumedTask {
  readonly journal = this
  readonly #dependencies: TaskRunDependencies
  readonly #onSleep: () => void
  #lazyKept: Kept | undefined
  readonly #ttlMs: number
  #expiresAt: number
  #sleepCount = 0
  #wakesAt: number | undefined
  #writer: TaskWriter | undefined
  #lifetime: Lifetime | undefined
  #stopReason: Error | undefined
  #message: string | undefined
  #toldAt = -Infinity
  #deferMs: number | undefined
  #isEnding = false
  #keeping: Promise<void> | undefined

  /**
   * @param ttlMs the time limit of the task.
   * @param onSleep called when a run that is no task yet begins a sleep.
   */
  constructor (dependencies: TaskRunDependencies, ttlMs: number, onSleep: () => void = () => {}) {
    this.#dependencies = dependencies
    this.#ttlMs = ttlMs
    this.#expiresAt = dependencies.now() + ttlMs
    this.#onSleep = onSleep
  }

  get #kept (): Kept {
    this.#lazyKept ??= {
      state: { answers: new Map(), results: new Map() }, asked: new Map(), sleeps: new Map()
    }
    return this.#lazyKept
  }

  get state (): RequestState { return this.#kept.state }

  get isTask (): boolean { return this.#writer !== undefined }
  get isSuspended (): boolean { return this.#wakesAt !== undefined }

  /** The time limit of a run. */
  get timeoutMs (): number {
    const { record } = this.#task
    return Math.min(MAX_TIMER_MS, timeLeft(record, this.#dependencies.now()))
  }

  get key (): TaskKey { return this.#task.key }

  get #task (): TaskWriter {
    if (this.#writer === undefined) throw new TypeError('the run is no task')
    return this.#writer
  }

  /** The request is a task from now on. @param creating rejects if the record cannot be created. */
  become (key: TaskKey, record: TaskRecord, creating: Promise<StoredTask>): void {
    this.#writer = new TaskWriter(this.#dependencies, key, record, creating)
  }

  /** The request is no task: its record cannot be created. */
  unbecome (): void { this.#writer = undefined }

  /** The members of the record that this run changes. */
  get changes (): Pick<TaskRecord, 'answers' | 'results' | 'sleeps' | 'statusMessage'> {
    return {
      statusMessage: this.#message,
      answers: Object.fromEntries(this.state.answers),
      results: Object.fromEntries(this.state.results),
      sleeps: Object.fromEntries(this.#kept.sleeps)
    }
  }

  /** Continues from what the record has. */
  resume (key: TaskKey, stored: StoredTask): void {
    const { record } = stored
    this.become(key, record, Promise.resolve(stored))
    this.#expiresAt = record.createdAt + record.ttlMs
    this.#message = record.statusMessage
    for (const [name, json] of Object.entries(record.answers)) this.state.answers.set(name, json)
    for (const [name, json] of Object.entries(record.results)) this.state.results.set(name, json)
    for (const [index, endsAt] of Object.entries(record.sleeps)) this.#kept.sleeps.set(index, endsAt)
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
    const { key, record } = this.#task
    if (!await this.#task.isCurrent()) return this.stop()
    // Another time may have been set since: that of a sleep.
    if (this.#isEnding) return
    await this.#dependencies.setDue(key, this.#dependencies.leaseMs)
    if (this.#message !== record.statusMessage) await this.#write()
  }

  // Of the journal

  keep (key: string): Promise<void> | undefined {
    if (!this.isTask) return undefined
    const excess = findStateExcess(this.state)
    if (excess === undefined) return this.#keepAll()
    this.state.results.delete(key)
    return Promise.reject(excess)
  }

  ask (key: string, json: string): void { this.#kept.asked.set(key, json) }

  sleep (ms: number): number {
    const now = this.#dependencies.now()
    const index = String(this.#sleepCount++)
    const endsAt = this.#kept.sleeps.get(index) ?? now + ms
    const leftMs = Math.max(0, Math.min(ms, endsAt - now))
    if (leftMs < SUSPEND_MS) return leftMs
    if (endsAt > this.#expiresAt) {
      throw new RangeError(`sleep: the task may last ${this.#ttlMs} ms (ttlMs), less than until its end`)
    }
    this.#kept.sleeps.set(index, endsAt)
    this.#wakesAt = Math.min(this.#wakesAt ?? Infinity, endsAt)
    if (!this.isTask) this.#onSleep()
    throw new Suspended()
  }

  // Of the outlet

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
    if (this.#stopReason instanceof HandlerTimeout) return this.#expire()
    if (Object.keys(this.#task.record.questions).length + this.#kept.asked.size > MAX_QUESTIONS) {
      return this.#finish(toTaskFailure(tooManyQuestions(MAX_QUESTIONS)))
    }
    if (this.#kept.asked.size > 0 || this.isSuspended) return this.#end(async () => await this.#suspend())
    if (Buffer.byteLength(result) > MAX_RESULT_BYTES) {
      return this.fail(resultTooLarge(`the result of a task may have ${MAX_RESULT_BYTES} bytes of JSON`))
    }
    this.#finish({ status: 'completed', statusMessage: undefined, result: String(result) })
  }

  fail (error: ProtocolError): void {
    if (this.#stopReason instanceof HandlerTimeout) return this.#expire()
    if (!(this.#stopReason instanceof ServiceClosing)) return this.#finish(toTaskFailure(error))
    if (this.#task.record.mayRerun) this.#release(0)
    else this.#finish(toTaskFailure(taskInterrupted('The replica was stopped')))
  }

  leaveUnanswered (): void {
    if (this.#deferMs === undefined) this.#end(async () => {})
    else this.#release(this.#deferMs)
  }

  openStream (): MessageSink { throw new TypeError('a task has no stream') }

  toDeferral (retryAfterSeconds: number): Error {
    this.#deferMs = retryAfterSeconds * 1000
    return new TaskDeferred()
  }

  #expire (): void {
    this.#finish(toTaskFailure(taskExpired(this.#task.record.ttlMs)))
  }

  /** @param write what the run writes last. */
  #end (write: () => Promise<void>): void {
    this.#isEnding = true
    const written = write()
    this.#dependencies.onEnd(this, written)
  }

  /** Results that come while a write waits for the one before it are in that write. */
  #keepAll (): Promise<void> {
    this.#keeping ??= this.#write(() => { this.#keeping = undefined })
    return this.#keeping
  }

  async #write (begin: () => Partial<TaskRecord> | void = () => {}): Promise<void> {
    await this.#task.write(() => ({ ...this.changes, ...begin() })).catch((error: unknown) => {
      // The record could not be created, and the call goes on without it.
      if (!this.isTask) return
      if (error instanceof TaskLost) this.stop()
      throw error
    })
  }

  #finish (change: Partial<TaskRecord>): void {
    const { key } = this.#task
    this.#end(async () => {
      await this.#write(() => ({ isRunning: false, wakesAt: undefined, ...change }))
      this.#dependencies.announce(key, true)
      await this.#dependencies.removeDue(key)
    })
  }

  /** The time is set before the record says that nobody runs the task: without one it would be lost. */
  async #suspend (): Promise<void> {
    const { key, record } = this.#task
    const now = this.#dependencies.now()
    const questions = addQuestions(record.questions, this.#kept.asked)
    // Answers that do not fit their questions.
    for (const name of this.#kept.asked.keys()) this.state.answers.delete(name)
    const endsAt = now + timeLeft(record, now)
    await this.#setDue(Math.max(0, Math.min(this.#wakesAt ?? endsAt, endsAt) - now))
    const status = this.#kept.asked.size > 0 ? 'input_required' : 'working'
    await this.#write(() => ({ isRunning: false, status, wakesAt: this.#wakesAt, questions }))
    if (status !== 'working') this.#dependencies.announce(key, false)
  }

  /** Leaves the task to the replica that looks for due tasks next. */
  #release (inMs: number): void {
    this.#end(async () => {
      await this.#setDue(inMs)
      const wakesAt = this.#dependencies.now() + inMs
      await this.#write(() => ({ isRunning: false, wakesAt }))
    })
  }

  async #setDue (inMs: number): Promise<void> {
    const { key } = this.#task
    await this.#task.insist(async () => await this.#dependencies.setDue(key, inMs))
  }
}

export function toTaskFailure (error: ProtocolError): Partial<TaskRecord> {
  const { code, message, data } = error
  return { status: 'failed', statusMessage: message, error: JSON.stringify({ code, message, data }) }
}

// One run of a task's handler on this replica: an outlet that turns what the run does into events of the
// task, one after the other.

import type { KeptTokensByName } from '../../../request/pipeline/seams.ts'
import { clock } from '../../../base/time.ts'
import { isErrorJson } from '../../../catalog/compiled/results/tool-result-json.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { resultTooLarge, tooManyQuestions, type ProtocolError } from '../../../platform/protocol/errors.ts'
import type { Progress } from '../../../platform/protocol/notifications.ts'
import type { Outlet } from '../../../request/pipeline/caller.ts'
import { HandlerTimeout, ServiceClosing, type Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { MessageSink } from '../../../platform/store/changes/message-sink.ts'
import { TaskJournal, type JournalOwner } from '../journal/journal.ts'
import { deferralAfter, findOutageDeferral, TaskDeferred, TaskLost, ignoreNotReadable } from './no-outcome.ts'
import { MAX_QUESTIONS } from '../machine/questions.ts'
import { RunProgress } from './run-progress.ts'
import { endOfRun, type TaskRecord } from '../records/record.ts'
import type { StoredTask, TaskKey } from '../records/records.ts'
import type { Deferral, JournalMembers, RunEvent } from '../machine/events.ts'
import { isShortLease, type TransitionDependencies, type Transitions } from '../machine/transitions.ts'

export interface TaskRunDependencies extends Pick<
  TransitionDependencies, 'records' | 'storeClock' | 'leaseMs'
> {
  readonly transitions: Transitions
  /** How long an operation of a handler waits for those of earlier runs, in milliseconds. */
  readonly patienceMs: number
  /** Called with the progress of a run. */
  onProgress (key: TaskKey, progress: Progress): void
  /** Called with the log messages of a run, as notifications. Absent: they are dropped. */
  onMessage? (taskId: string, notification: string): void
  /** Called when the handler has ended. @param writing settles with the last write of the run. */
  onEnd (run: TaskRun, writing: Promise<void>): void
}

/** The limit of a result, in bytes of JSON. */
const MAX_RESULT_BYTES = 1_048_576

export class TaskRun implements Outlet, JournalOwner {
  readonly key: TaskKey
  readonly journal: TaskJournal
  readonly #dependencies: TaskRunDependencies
  #run: number
  /** The record of the last write. */
  #stored: StoredTask
  /** Settles after the writes so far. */
  #last: Promise<unknown>
  #lifetime: Lifetime | undefined
  #stopReason: Error | undefined
  readonly #progress: RunProgress
  #deferral: Deferral | undefined
  #limitMs = 0
  #keeping: Promise<void> | undefined
  #renewing: Promise<void> | undefined
  #onEnd = (): void => {}
  /** When the lease ends, in milliseconds of the monotonic clock. */
  #leaseEndsAt: number

  /**
   * @param heldAt when the lease began at the latest, in milliseconds of the monotonic clock.
   * @param creating rejects if the record cannot be created. The caller then detaches the journal.
   */
  constructor (
    dependencies: TaskRunDependencies, journal: TaskJournal, key: TaskKey, record: TaskRecord, heldAt: number,
    creating: Promise<StoredTask>
  ) {
    this.key = key
    this.journal = journal
    this.#dependencies = dependencies
    this.#run = record.run
    this.#progress = new RunProgress(record)
    this.#stored = { record, version: '' }
    this.#leaseEndsAt = heldAt + dependencies.leaseMs
    this.#last = creating.then((stored) => { this.#stored = stored })
    this.#last.catch(() => {})
    journal.attach(record, async () => await this.#keep())
  }

  /** Creates the next run of a stored task. */
  static resume (
    dependencies: TaskRunDependencies, key: TaskKey, stored: StoredTask, heldAt: number
  ): TaskRun {
    const { record } = stored
    const { patienceMs, storeClock } = dependencies
    const journal = new TaskJournal(record.ttlMs, storeClock.now, { patienceMs })
    if (record.undo === undefined) journal.restore(record)
    else if (record.undoJournal !== undefined) journal.restore(record.undoJournal)
    const run = new TaskRun(dependencies, journal, key, record, heldAt, Promise.resolve(stored))
    journal.adopt(run)
    return run
  }

  get record (): TaskRecord { return this.#stored.record }
  /** The number of the run among those of its task. It grows when the run goes on after its lease. */
  get number (): number { return this.#run }
  get relayed (): ClientCapabilities | undefined { return this.record.relayed }
  get isStopped (): boolean { return this.#stopReason !== undefined }

  /** Returns the time limit of the run, in milliseconds. The time begins now. */
  takeTimeLimit (): number {
    this.#limitMs = Math.max(0, endOfRun(this.record) - this.#dependencies.storeClock.now())
    return this.#limitMs
  }

  /** Whether the time limit of the task has ended the run. Its tool may have a shorter one. */
  get #isExpired (): boolean {
    return this.#stopReason instanceof HandlerTimeout && this.#stopReason.timeoutMs >= this.#limitMs
  }

  /** Calls the listener when no handler of the run goes on. There is one listener at most. */
  onEnd (listener: () => void): void { this.#onEnd = listener }

  onPending (lifetime: Lifetime): void {
    this.#lifetime = lifetime
    lifetime.onStop((reason) => { this.#stopReason = reason })
    if (this.#stopReason !== undefined) lifetime.stop(this.#stopReason)
  }

  /** Ends the run without an outcome: the task was cancelled, or runs on another replica. */
  stop (): void {
    this.#stopReason ??= new TaskLost()
    this.#lifetime?.stop(this.#stopReason)
  }

  /**
   * Says that the handler is about to be called. Resolves when the record says so, if it must. Rejects if the
   * task does not run here any more: the process may have been paused during the write.
   */
  async call (): Promise<void> {
    if (!this.record.isCalled) await this.#send(() => ({ type: 'called' }))
    if (this.#isShort) await this.#dependencies.transitions.insist(async () => await this.renew())
    await this.allowStep()
  }

  /** Renews the lease. Stops the run if it is no longer the current one. */
  async renew (): Promise<void> {
    // One at a time: the number of the run changes after the end of a lease.
    this.#renewing ??= this.#renew().finally(() => { this.#renewing = undefined })
    await this.#renewing
  }

  get #isShort (): boolean {
    const { leaseMs } = this.#dependencies
    return isShortLease(this.#leaseEndsAt - leaseMs, leaseMs)
  }

  async #renew (): Promise<void> {
    const { records, transitions, leaseMs } = this.#dependencies
    const askedAt = clock.monotonic()
    const endsAt = this.#leaseEndsAt
    const current = await records.read(this.key).catch(ignoreNotReadable)
    if (current?.record.run !== this.#run || !current.record.isRunning) return this.stop()
    this.journal.addAnswers(current.record.answers)
    // A look on this replica may have held the task for the next generation.
    await transitions.hold(this.key, current.record.generation + 1)
    // After the end of the lease another replica may have taken the due entry, and be about to take over.
    if (clock.monotonic() >= endsAt) await this.#send(() => ({ type: 'reclaimed' }))
    else this.#leaseEndsAt = askedAt + leaseMs
    if (this.#isShort) return await this.#renew()
    if (this.#progress.members.statusMessage !== this.record.statusMessage) await this.#keep()
  }

  /** A process that was paused for longer than its lease asks first whether the task still runs here. */
  allowStep (): Promise<void> | undefined {
    return this.#stopReason === undefined && clock.monotonic() < this.#leaseEndsAt
      ? undefined
      : this.#assertCurrent()
  }

  /** Ends the run: its handler does not do what earlier runs did. */
  onMismatch (error: Error): void {
    this.#stopReason ??= error
    this.#lifetime?.stop(this.#stopReason)
  }

  /** Resolves once the record has the renewed tokens for upstreams. Rejects if the task runs elsewhere. */
  async keepTokens (upstreamTokens: KeptTokensByName): Promise<void> {
    await this.#send((journal) => ({ type: 'kept', journal, upstreamTokens }))
  }

  /** Gives the task to the next replica that looks: its handler is not called here. */
  giveBack (): void {
    this.#deferral = { inMs: 0 }
    this.leaveUnanswered()
  }

  /** Returns the error for a run that a limit refuses for now, or without a time for another replica. */
  toDeferral (retryAfterSeconds?: number): Error {
    this.#deferral = deferralAfter(retryAfterSeconds, this.#dependencies.leaseMs)
    return new TaskDeferred()
  }

  /** A task has no stream to its client. */
  notify (json: string): void { this.#dependencies.onMessage?.(this.key.id, json) }

  progress (progress: Progress): void {
    if (!this.#progress.take(progress)) return
    this.#dependencies.onProgress(this.key, progress)
    if (!this.#progress.isWriteDue()) return
    // If the store stays unavailable, the end of the run fails too, and is logged.
    this.#keep().catch(() => {})
  }

  succeed (result: string | Buffer): void {
    const { asked: questions, isSuspended, wakesAt } = this.journal
    if (this.#isExpired) return this.#end(expired)
    if (Object.keys(this.record.questions).length + questions.size > MAX_QUESTIONS) {
      return this.#fail(tooManyQuestions(MAX_QUESTIONS))
    }
    if (questions.size > 0 || isSuspended) {
      const unfit = this.journal.dropUnfitAnswers()
      return this.#end((journal) => ({ type: 'suspended', journal, asked: questions, unfit, wakesAt }))
    }
    if (Buffer.byteLength(result) > MAX_RESULT_BYTES) {
      return this.#fail(resultTooLarge(`the result of a task may have ${MAX_RESULT_BYTES} bytes of JSON`))
    }
    const json = String(result)
    const isError = isErrorJson(json)
    this.#end((journal) => ({ type: 'completed', journal, result: json, isError }))
  }

  fail (error: ProtocolError): void {
    if (this.#isExpired) return this.#end(expired)
    if (this.#stopReason instanceof ServiceClosing) return this.#end(stopped)
    this.#deferral = findOutageDeferral(error, this.record)
    if (this.#deferral === undefined) this.#fail(error)
    else this.leaveUnanswered()
  }

  leaveUnanswered (): void {
    const deferral = this.#deferral
    if (deferral === undefined) this.#finish(Promise.resolve())
    else this.#end((journal) => ({ type: 'deferred', journal, ...deferral }))
  }

  openStream (): MessageSink { throw new TypeError('a task has no stream') }

  async #assertCurrent (): Promise<void> {
    // The process may be paused during the renewal too: the lease counts from its beginning.
    while (this.#stopReason === undefined && clock.monotonic() >= this.#leaseEndsAt) {
      await this.#dependencies.transitions.insist(async () => await this.renew())
    }
    if (this.#stopReason !== undefined) throw this.#stopReason
  }

  #fail (error: ProtocolError): void {
    this.#end((journal) => ({ type: 'failed', journal, error }))
  }

  #end (toEvent: (journal: JournalMembers) => RunEvent): void {
    this.#finish(this.#send(toEvent))
  }

  #finish (writing: Promise<void>): void {
    if (this.#lifetime === undefined) this.#onEnd()
    else this.#lifetime.onIdle(this.#onEnd)
    this.#dependencies.onEnd(this, writing)
  }

  /** Shares a write that has not begun: it will have all results so far. */
  #keep (): Promise<void> {
    this.#keeping ??= this.#send((journal) => {
      this.#keeping = undefined
      return { type: 'kept', journal }
    })
    return this.#keeping
  }

  /**
   * Applies the event after those before it. Rejects with TaskLost if the run is no longer the current one.
   * @param toEvent called when the event is applied.
   */
  #send (toEvent: (journal: JournalMembers) => RunEvent): Promise<void> {
    const sending = this.#last.then(async () => await this.#apply(toEvent)).catch((error: unknown) => {
      // The record could not be created: the call continues as an ordinary one.
      if (this.journal.isTask) throw error
    })
    this.#last = sending.catch(() => {})
    return sending
  }

  async #apply (toEvent: (journal: JournalMembers) => RunEvent): Promise<void> {
    const event = toEvent({ ...this.#progress.members, ...this.journal.members })
    const applied = await this.#dependencies.transitions.apply(
      this.key, { ...event, run: this.#run }, { from: this.#stored, isUrgent: true }
    ).catch(ignoreNotReadable)
    if (applied?.transition === undefined) {
      this.stop()
      throw new TaskLost()
    }
    this.#stored = applied
    this.journal.addAnswers(applied.record.answers)
    if (event.type !== 'reclaimed') return
    this.#run = applied.record.run
    this.#leaseEndsAt = applied.heldAt + this.#dependencies.leaseMs
  }
}

const expired = (journal: JournalMembers) => ({ type: 'expired', journal }) as const
const stopped = (journal: JournalMembers) => ({ type: 'stopped', journal }) as const

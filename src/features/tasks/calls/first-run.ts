// The first run of a handler, within its request. The call becomes a task before its first step, long sleep
// or question, or if it takes too long. From then on its request only waits for it.

import { clock } from '../../../base/time.ts'
import { NotAllowed } from '../../../catalog/compiled/scopes/run-authorized.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import type { Progress } from '../../../platform/protocol/notifications.ts'
import type { Outlet } from '../../../request/pipeline/caller.ts'
import type { Outcome } from '../../../request/pipeline/method.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { StartingCall, TaskStart, UpstreamTokens } from '../../../request/pipeline/seams.ts'
import type { Question } from '../../../request/questions/question.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'
import { toOwnError } from './answers.ts'
import type { CallWaiters } from './waiters.ts'
import {
  exchangeTokens, holdFirst, relayedBy, storeFirst, toFirstRecord, type FirstRunOptions
} from './first-record.ts'
import { isUnseen } from './relayed-questions.ts'
import { TaskJournal, type JournalOwner } from '../journal/journal.ts'
import type { TaskRecord } from '../records/record.ts'
import { TaskTaken, type CreatedTask } from '../records/records.ts'
import { TaskLost } from '../runs/no-outcome.ts'
import { TaskRun, type TaskRunDependencies } from '../runs/run.ts'

export interface TaskStartDependencies extends TaskRunDependencies {
  /** How long a handler may take before its call becomes a task, in milliseconds. */
  readonly graceMs: number
  /** The time in which nobody reads a question, in milliseconds. */
  readonly readingMs: number
  readonly waiters: CallWaiters
  /** Absent: tasks keep no tokens for upstreams. */
  readonly upstreamTokens?: UpstreamTokens
  /** Called when the task is in the store. The runner then renews its lease. */
  onCreate (run: TaskRun): void
}

export class FirstTaskRun implements TaskStart, JournalOwner {
  readonly #dependencies: TaskStartDependencies
  readonly #request: RequestContext
  readonly #call: StartingCall
  #options: FirstRunOptions
  readonly journal: TaskJournal
  #becomeTask: (() => void) | undefined
  /** Whether the handler needed a task before `run` had its promise. */
  #isNeeded = false
  /** Settles the first operation of a call that must be a task. */
  #creation: { readonly resolve: () => void, readonly reject: (error: Error) => void } | undefined
  #created: Promise<void> | undefined
  /** Why the task could not be created. The call goes on as an ordinary one. */
  #refusal: Error | undefined
  /** Whether the call was answered without a task: what it begins now would be in no record. */
  #isOver = false
  /** Whether another replica may run the task, though nobody knows whether it was created. */
  #mayRunElsewhere = false
  /** Whether an attempt to create the record may still do so. */
  #isInDoubt = false
  /** The latest progress. */
  #progress: Progress | undefined

  constructor (
    dependencies: TaskStartDependencies, request: RequestContext, call: StartingCall, options: FirstRunOptions
  ) {
    this.#dependencies = dependencies
    this.#request = request
    this.#call = call
    this.#options = options
    // A replica that has just started does not know the clock of the store.
    this.journal = new TaskJournal(options.rule.ttlMs, clock.monotonic, this)
  }

  get relayed (): ClientCapabilities | undefined { return this.#options.relayed }
  get takesOver (): boolean {
    return this.#options.rule.relaysQuestions && this.#request.snapshot.server.continuesCalls
  }

  takeOver ({ requiredCapabilities }: Question, response: unknown, elapsedMs: number): boolean {
    const isUnattended = this.takesOver && requiredCapabilities.elicitation !== undefined &&
      isUnseen(response, this.#dependencies.readingMs, elapsedMs)
    if (isUnattended) {
      const relayed = relayedBy(this.#options.rule)
      this.#options = { ...this.#options, takesTasks: false, relayed, isUnattended }
    }
    return isUnattended
  }

  onSleep (): void {
    const refusal = this.#findRefusal()
    if (refusal !== undefined) throw refusal
    this.#need()
  }

  /** A question that the client itself carries needs no task. */
  onAsk (): Promise<void> | undefined {
    return this.#options.takesTasks ? undefined : this.#awaitCreation()
  }

  /** A step waits for the record: no work is done that nobody keeps. */
  allowStep (): Promise<void> { return this.#awaitCreation() }

  run (begin: () => string | Promise<string>): Outcome | Promise<Outcome> {
    const finding = this.#dependencies.waiters.findEarlier(this.#request, this.#call, this.#options)
    return finding === undefined ? this.#run(begin) : finding.then((earlier) => earlier ?? this.#run(begin))
  }

  #run (begin: () => string | Promise<string>): Outcome | Promise<Outcome> {
    const request = this.#request
    // V8 allocates a function in the old space if its literal is assigned to a property. It keeps its call
    // until a full collection: 2 to 3 % of a call on Node 20, and 44 µs became up to 137 on Node 24.
    const noteProgress = (progress: Progress): void => { this.#progress = progress }
    request.onProgress = noteProgress
    // The record has the form of the current revision, whoever called.
    request.writer = request.snapshot.writer.current
    let work: string | Promise<string>
    try {
      work = begin()
    } catch (error) {
      if (!this.#isNeeded && !this.#mustBecome(error)) throw this.#toDirectError(error)
      work = Promise.reject(error)
    }
    if (typeof work !== 'string') return this.#await(work, this.#isNeeded)
    // It may have begun steps that it does not wait for.
    const isTask = this.#isNeeded || this.#mustBecome()
    return isTask ? this.#await(Promise.resolve(work), true) : this.#toDirectResult(work)
  }

  /** Why the call cannot become a task any more. Made when it is asked for: an error costs 10 µs. */
  #findRefusal (): Error | undefined {
    return this.#refusal ?? (this.#isOver ? new TaskLost() : undefined)
  }

  #need (): void {
    if (this.#becomeTask === undefined) this.#isNeeded = true
    else this.#becomeTask()
  }

  #awaitCreation (): Promise<void> {
    this.#created ??= new Promise((resolve, reject) => {
      this.#creation = { resolve, reject }
      const refusal = this.#findRefusal()
      if (refusal === undefined) this.#need()
      else reject(refusal)
    })
    return this.#created.then(async () => {
      // The creation may have taken long.
      this.#request.lifetime.throwIfStopped()
      await this.journal.allowStep()
    })
  }

  /** Resolves to the result of the work, or to the work itself once it is durable. */
  #await (work: Promise<string>, isAtOnce: boolean): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      let isDecided = false
      const answerDirectly = () => {
        work.then((result) => this.#toDirectResult(result)).then(
          resolve, (error: unknown) => reject(this.#toDirectError(error))
        )
      }
      const becomeTask = (): void => {
        if (isDecided) return
        isDecided = true
        this.#create().then((run) => {
          this.#creation?.resolve()
          resolve({ work, outlet: run, answer: (waiting) => this.#answer(waiting, run) })
        }, (error: Error) => {
          this.journal.detach()
          this.#refusal = error instanceof TaskTaken ? new TaskLost() : error
          this.#creation?.reject(this.#refusal)
          if (error instanceof TaskTaken) {
            resolve({ work, outlet: NO_OUTLET, answer: (waiting) => this.#join(waiting) })
          } else if (this.#mustBecome() || this.journal.isSuspended || this.#mayRunElsewhere) {
            this.#request.lifetime.stop(error)
            reject(this.#toDirectError(error))
          } else answerDirectly()
        })
      }
      // Not assigned as a literal, like `onProgress`.
      this.#becomeTask = becomeTask
      const mayAnswer = (error?: unknown): boolean => {
        if (this.#mustBecome(error)) becomeTask()
        if (isDecided) return false
        isDecided = true
        this.#isOver = true
        return true
      }
      work.then(
        () => { if (mayAnswer()) answerDirectly() },
        (error: unknown) => { if (mayAnswer(error)) answerDirectly() }
      )
      if (isAtOnce) becomeTask()
      else this.#request.lifetime.onPassed(this.#dependencies.graceMs, becomeTask)
    })
  }

  /** Answers the request, which has parted from its work. */
  #answer (waiting: RequestContext, run: TaskRun): string | Promise<string> {
    const isAtOnce = this.#options.rule.requiredCapabilities !== undefined || this.journal.isSuspended
    const { key, record } = run
    const task = { key, record, isAtOnce, isInDoubt: this.#isInDoubt }
    return this.#dependencies.waiters.answer(waiting, this.#call, this.#options, task)
  }

  /** Answers the request, which has parted from its work, as the first call is answered. */
  #join (waiting: RequestContext): string | Promise<string> {
    const { waiters } = this.#dependencies
    this.#request.lifetime.stop(new TaskLost())
    const { name } = this.#options
    if (name === undefined) throw new Error('the id of a new task is taken: the random numbers are broken')
    return waiters.join(waiting, this.#call, name, this.#options)
  }

  /** Returns the result of a call that is no task, as its revision has it. */
  #toDirectResult (result: string): string {
    const { writer } = this.#request.snapshot
    // A limit may still refuse the result.
    this.#request.writer = writer
    return writer.fromCurrent(result)
  }

  /** Returns the error of a call that is no task, as its revision has it. */
  #toDirectError (error: unknown): unknown {
    this.#request.writer = this.#request.snapshot.writer
    return toOwnError(this.#request, error)
  }

  /**
   * Whether a finished call must still be answered as a task: its tool requires one, and it neither asked nor
   * was refused.
   */
  #mustBecome (error?: unknown): boolean {
    const { takesTasks, rule: { requiredCapabilities } } = this.#options
    return takesTasks && requiredCapabilities !== undefined && !(error instanceof NotAllowed) &&
      this.#request.observed.special !== 'input_required'
  }

  /** Creates the task. The time limit of the call does not end it: a task has one of its own. */
  async #create (): Promise<TaskRun> {
    const resumeClock = this.#request.lifetime.pauseClock()
    try {
      return await this.#createTask()
    } finally {
      resumeClock()
    }
  }

  async #createTask (): Promise<TaskRun> {
    const { onCreate } = this.#dependencies
    const { lifetime } = this.#request
    const hold = await holdFirst(this.#dependencies, this.#request, this.#options.name)
    const excess = this.journal.findExcess()
    if (excess !== undefined) throw excess
    const upstreamTokens = await exchangeTokens(this.#dependencies, this.#request, this.#options)
    const { storeClock } = this.#dependencies
    this.journal.useClock(storeClock.now)
    const now = storeClock.now()
    const first = toFirstRecord(this.#request, this.#options, this.journal, now, this.#progress)
    const record = { ...first, upstreamTokens }
    const creating = this.#store(hold, record)
    const run = new TaskRun(this.#dependencies, this.journal, hold.key, record, hold.heldAt, creating)
    this.#isInDoubt = (await creating).isInDoubt
    this.journal.adopt(run)
    if (this.#progress !== undefined) run.progress(this.#progress)
    this.#request.onProgress = (progress) => run.progress(progress)
    lifetime.limit(run.takeTimeLimit())
    run.onPending(lifetime)
    onCreate(run)
    return run
  }

  async #store (hold: Parameters<typeof storeFirst>[1], record: TaskRecord): Promise<CreatedTask> {
    return await storeFirst(this.#dependencies, hold, record).catch((error: unknown) => {
      this.#mayRunElsewhere = error instanceof StoreUnavailable && this.#options.rule.mayRerun
      throw error
    })
  }
}

/** Takes what a call does that is a repetition: its first run has the outcome. */
const NO_OUTLET: Outlet = {
  onPending () {},
  notify () {},
  succeed () {},
  fail () {},
  leaveUnanswered () {},
  openStream () { throw new TypeError('a repeated call has no stream') }
}

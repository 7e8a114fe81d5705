// The first run of a handler, within its request. The call becomes a task if it takes too long, if it sleeps,
// or if its tool requires a task.

import { clock } from '../base/time.ts'
import type { CompiledTool, TaskRule } from '../catalog/compiled/definitions/compile-tool.ts'
import { NotAllowed } from '../catalog/compiled/scopes/run-authorized.ts'
import { networkOf } from '../limits/holder.ts'
import { LimitReached } from '../protocol/errors.ts'
import type { Outcome } from '../request/pipeline/method.ts'
import type { RequestContext } from '../request/pipeline/request-context.ts'
import type { TaskStart } from '../request/pipeline/seams.ts'
import { newMark } from '../store/records/lost-replies.ts'
import { StoreUnavailable } from '../store/records/state-store.ts'
import { TaskJournal, type JournalOwner } from './journal.ts'
import { FORM, toKeptPrincipal, toTaskSeed, type TaskRecord } from './record.ts'
import type { StoredTask, TaskKey } from './records.ts'
import { TaskRun, toStatusMessage, type TaskRunDependencies } from './run.ts'
import type { TransitionDependencies } from './transitions.ts'

export interface TaskStartDependencies extends TaskRunDependencies, Pick<TransitionDependencies, 'dueTimes'> {
  /** How long a handler may take before its call becomes a task, in milliseconds. */
  readonly graceMs: number
  /** Called when the task is in the store. The runner then renews its lease. */
  onCreate (run: TaskRun): void
}

/** A task, and its CreateTaskResult. */
interface CreatedTask { readonly answer: string, readonly run: TaskRun }

export class FirstTaskRun implements TaskStart, JournalOwner {
  readonly #dependencies: TaskStartDependencies
  readonly #request: RequestContext
  readonly #tool: Pick<CompiledTool, 'key' | 'scopes'>
  readonly #rule: TaskRule
  readonly #args: unknown
  readonly journal: TaskJournal
  #becomeTask: (() => void) | undefined
  /** Whether the handler needed a task before `run` had its promise. */
  #isNeeded = false
  /** Settles the first step of a call that must be a task. */
  #creation: { readonly resolve: () => void, readonly reject: (error: Error) => void } | undefined
  #created: Promise<void> | undefined
  /** Why the task could not be created. The call goes on as an ordinary one. */
  #refusal: Error | undefined
  /** Whether another replica may run the task, though nobody knows whether it was created. */
  #mayRunElsewhere = false
  #message: string | undefined

  constructor (
    dependencies: TaskStartDependencies, request: RequestContext, tool: Pick<CompiledTool, 'key' | 'scopes'>,
    rule: TaskRule, args: unknown
  ) {
    this.#dependencies = dependencies
    this.#request = request
    this.#tool = tool
    this.#rule = rule
    this.#args = args
    this.journal = new TaskJournal(rule.ttlMs, dependencies.storeClock.now, this)
    request.onProgress = (progress) => { this.#message = toStatusMessage(progress) }
  }

  onSleep (): void {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#need()
  }

  /** A step of a tool that requires a task waits for the record: no work is done that nobody keeps. */
  allowStep (): Promise<void> | undefined {
    if (this.#rule.requiredCapabilities === undefined) return undefined
    this.#created ??= new Promise((resolve, reject) => {
      this.#creation = { resolve, reject }
      this.#need()
    })
    return this.#created.then(async () => {
      // The creation may have taken long.
      this.#request.lifetime.throwIfStopped()
      await this.journal.allowStep()
    })
  }

  run (begin: () => string | Promise<string>): Outcome | Promise<Outcome> {
    let work: string | Promise<string>
    try {
      work = begin()
    } catch (error) {
      if (!this.#mustBecome(error)) throw error
      work = Promise.reject(error)
    }
    if (typeof work !== 'string') return this.#await(work, this.#isNeeded)
    return this.#mustBecome() ? this.#await(Promise.resolve(work), true) : work
  }

  #need (): void {
    if (this.#becomeTask === undefined) this.#isNeeded = true
    else this.#becomeTask()
  }

  /** Resolves to the result of the work, or to the task once it is durable. */
  #await (work: Promise<string>, isAtOnce: boolean): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      let isDecided = false
      const becomeTask = this.#becomeTask = () => {
        if (isDecided) return
        isDecided = true
        this.#create().then(({ answer, run }) => {
          this.#creation?.resolve()
          resolve({ answer, work, outlet: run })
        }, (error: Error) => {
          this.journal.detach()
          this.#refusal = error
          this.#creation?.reject(error)
          if (this.#mustBecome() || this.journal.isSuspended || this.#mayRunElsewhere) {
            this.#request.lifetime.stop(error)
            reject(error)
          } else work.then(resolve, reject)
        })
      }
      const mayAnswer = (error?: unknown): boolean => {
        if (this.#mustBecome(error)) becomeTask()
        if (isDecided) return false
        isDecided = true
        return true
      }
      work.then(
        (result) => { if (mayAnswer()) resolve(result) },
        (error: unknown) => { if (mayAnswer(error)) reject(error) }
      )
      if (isAtOnce) becomeTask()
      else this.#request.lifetime.onPassed(this.#dependencies.graceMs, becomeTask)
    })
  }

  /**
   * Whether a finished call must still be answered as a task: its tool requires one, and it neither asked nor
   * was refused.
   */
  #mustBecome (error?: unknown): boolean {
    return this.#rule.requiredCapabilities !== undefined && !(error instanceof NotAllowed) &&
      this.#request.observed.special !== 'input_required'
  }

  /** Creates the task. The time limit of the call does not end it: a task has one of its own. */
  async #create (): Promise<CreatedTask> {
    const resumeClock = this.#request.lifetime.pauseClock()
    try {
      return await this.#createTask()
    } finally {
      resumeClock()
    }
  }

  async #createTask (): Promise<CreatedTask> {
    const { records, transitions, storeClock, leaseMs, onCreate } = this.#dependencies
    const { lifetime, snapshot, principal } = this.#request
    const key = records.newKey(principal)
    const heldAt = clock.monotonic()
    // Without a due time, a task is lost with its replica. The answer also tells the time of the store.
    await transitions.hold(key, 0)
    const excess = this.journal.findExcess()
    if (excess !== undefined) throw excess
    const record = this.#toRecord()
    const creating = this.#store(key, record)
    const run = new TaskRun(this.#dependencies, this.journal, key, record, heldAt, creating)
    await creating
    // The process was paused: a replica that found no record has removed the due time.
    if (clock.monotonic() >= heldAt + leaseMs) {
      await transitions.insist(async () => await transitions.hold(key, record.generation + 1))
    }
    this.journal.adopt(run)
    const message = this.#message
    if (message !== undefined && message !== record.statusMessage) run.progress({ progress: 0, message })
    this.#request.onProgress = (progress) => run.progress(progress)
    lifetime.limit(run.timeoutMs)
    run.attach(lifetime)
    onCreate(run)
    this.#request.observed.special = 'task'
    return { run, answer: snapshot.writer.writeTask(toTaskSeed(key.id, record, storeClock.now())) }
  }

  async #store (key: TaskKey, record: TaskRecord): Promise<StoredTask> {
    const { records, dueTimes } = this.#dependencies
    return await records.create(key, record).catch(async (error: unknown) => {
      if (error instanceof LimitReached) await dueTimes.remove(key.entry)
      this.#mayRunElsewhere = error instanceof StoreUnavailable && this.#rule.mayRerun
      throw error
    })
  }

  #toRecord (): TaskRecord {
    const { requestId, principal, caller, revision, envelope, observed } = this.#request
    const { key, scopes } = this.#tool
    const { ttlMs, keepResultMs, mayRerun, undo, fingerprint } = this.#rule
    const now = this.#dependencies.storeClock.now()
    return {
      tool: key,
      toolScopes: scopes,
      args: this.#args,
      principal: toKeptPrincipal(principal),
      network: networkOf(caller),
      client: { revision, capabilities: envelope.clientCapabilities, info: envelope.clientInfo },
      requestId,
      traceId: observed.traceId,
      createdAt: now,
      ttlMs,
      keepResultMs,
      mayRerun,
      mayUndo: undo !== undefined,
      fingerprint,
      form: FORM,
      generation: 0,
      mark: newMark(),
      status: 'working',
      statusMessage: this.#message,
      updatedAt: now,
      run: 1,
      isRunning: true,
      isCalled: true,
      losses: 0,
      questions: {},
      ...this.journal.members
    }
  }
}

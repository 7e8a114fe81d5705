// The first run of a handler, within its request. The call becomes a task if it takes too long, if it sleeps,
// or if its tool requires a task.

import type { TaskRule } from '../catalog/compiled/definitions/compile-tool.ts'
import { NotAllowed } from '../catalog/compiled/scopes/run-authorized.ts'
import { networkOf } from '../limits/holder.ts'
import { LimitReached } from '../protocol/errors.ts'
import type { Outcome } from '../request/pipeline/method.ts'
import type { RequestContext } from '../request/pipeline/request-context.ts'
import type { TaskStart } from '../request/pipeline/seams.ts'
import { findStateExcess, TaskJournal } from './journal.ts'
import { toTaskSeed, type TaskRecord } from './record.ts'
import type { StoredTask, TaskKey } from './records.ts'
import { TaskRun, type TaskRunDependencies } from './run.ts'

export interface TaskStartDependencies extends TaskRunDependencies {
  /** How long a handler may take before its call becomes a task, in milliseconds. */
  readonly graceMs: number
  /** Called when the task is in the store. The runner then renews its lease. */
  onCreate (run: TaskRun): void
}

export class FirstTaskRun implements TaskStart {
  readonly #dependencies: TaskStartDependencies
  readonly #request: RequestContext
  readonly #tool: string
  readonly #rule: TaskRule
  readonly #args: unknown
  readonly journal: TaskJournal
  #becomeTask: (() => void) | undefined
  /** Whether the handler went to sleep before `begin` returned. */
  #hasSlept = false

  constructor (
    dependencies: TaskStartDependencies, request: RequestContext, tool: string, rule: TaskRule, args: unknown
  ) {
    this.#dependencies = dependencies
    this.#request = request
    this.#tool = tool
    this.#rule = rule
    this.#args = args
    this.journal = new TaskJournal(rule.ttlMs, dependencies.now, this)
  }

  onSleep (): void {
    if (this.#becomeTask === undefined) this.#hasSlept = true
    else this.#becomeTask()
  }

  run (begin: () => string | Promise<string>): Outcome | Promise<Outcome> {
    let work: string | Promise<string>
    try {
      work = begin()
    } catch (error) {
      if (!this.#mustBecome(error)) throw error
      work = Promise.reject(error)
    }
    if (typeof work !== 'string') return this.#await(work, this.#hasSlept)
    return this.#mustBecome() ? this.#await(Promise.resolve(work), true) : work
  }

  /** Resolves to the result of the work, or to the task once it is durable. */
  #await (work: Promise<string>, isAtOnce: boolean): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      let isDecided = false
      const becomeTask = this.#becomeTask = () => {
        if (isDecided) return
        isDecided = true
        this.#create().then(({ answer, run }) => resolve({ answer, work, outlet: run }), (error: Error) => {
          this.journal.detach()
          if (this.#mustBecome() || this.journal.isSuspended) {
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

  /** Creates the task. The answer is a CreateTaskResult. */
  async #create (): Promise<{ readonly answer: string, readonly run: TaskRun }> {
    const { records, now, onCreate } = this.#dependencies
    const { lifetime, snapshot, principal } = this.#request
    const excess = findStateExcess(this.journal.state)
    if (excess !== undefined) throw excess
    const key = records.newKey(principal)
    const record = this.#toRecord()
    const creating = this.#store(key, record)
    const run = new TaskRun(this.#dependencies, this.journal, key, record, creating)
    await creating
    lifetime.limit(run.timeoutMs)
    run.attach(lifetime)
    onCreate(run)
    this.#request.observed.special = 'task'
    return { run, answer: snapshot.writer.writeTask(toTaskSeed(key.id, record, now())) }
  }

  /** Sets the due time first: without one, a task is lost with its replica. */
  async #store (key: TaskKey, record: TaskRecord): Promise<StoredTask> {
    const { records, setDue, removeDue, leaseMs } = this.#dependencies
    await setDue(key, leaseMs)
    return await records.create(key, record).catch(async (error: unknown) => {
      if (error instanceof LimitReached) await removeDue(key)
      throw error
    })
  }

  #toRecord (): TaskRecord {
    const { requestId, principal, revision, envelope: { clientCapabilities, clientInfo } } = this.#request
    const { ttlMs, keepResultMs, mayRerun } = this.#rule
    const now = this.#dependencies.now()
    return {
      tool: this.#tool,
      args: this.#args,
      principal: { ...principal, scopes: [...principal.scopes] },
      network: networkOf(this.#request.caller),
      client: { revision, capabilities: clientCapabilities, info: clientInfo },
      requestId,
      createdAt: now,
      ttlMs,
      keepResultMs,
      mayRerun,
      status: 'working',
      updatedAt: now,
      run: 1,
      isRunning: true,
      questions: {},
      ...this.journal.members
    }
  }
}

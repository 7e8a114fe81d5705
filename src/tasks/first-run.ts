// The first run of a handler, within its request: when the request becomes a task, and what it is answered.

import type { TaskRule } from '../catalog/compiled/definitions/compile-tool.ts'
import { NotAllowed } from '../catalog/compiled/scopes/run-authorized.ts'
import { networkOf } from '../limits/network.ts'
import { LimitReached } from '../protocol/errors.ts'
import type { Outcome } from '../request/pipeline/method.ts'
import type { RequestContext } from '../request/pipeline/request-context.ts'
import type { TaskStart } from '../request/pipeline/task-seam.ts'
import { TaskJournal } from './task-journal.ts'
import { toTaskSeed, type TaskRecord } from './task-record.ts'
import type { StoredTask, TaskKey } from './task-records.ts'
import { TaskRun, type TaskRunDependencies } from './task-run.ts'
import { findStateExcess } from './task-sizes.ts'

export interface TaskStartDependencies extends TaskRunDependencies {
  /** How long a handler may take before its call becomes a task, in milliseconds. */
  readonly graceMs: number
  /** Called when a task has been created, so that its lease is renewed. */
  onCreate (run: TaskRun): void
}

export class FirstTaskRun implements TaskStart {
  readonly #dependencies: TaskStartDependencies
  readonly #request: RequestContext
  readonly #tool: string
  readonly #rule: TaskRule
  readonly #args: unknown
  readonly journal: TaskJournal
  #become: (() => void) | undefined
  /** A sleep may begin before `begin` returns. */
  #isEarly = false

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
    if (this.#become === undefined) this.#isEarly = true
    else this.#become()
  }

  run (begin: () => string | Promise<string>): Outcome | Promise<Outcome> {
    let work: string | Promise<string>
    try {
      work = begin()
    } catch (error) {
      if (!this.#mustBecome(error)) throw error
      work = Promise.reject(error)
    }
    if (typeof work !== 'string') return this.#await(work, this.#isEarly)
    return this.#mustBecome() ? this.#await(Promise.resolve(work), true) : work
  }

  /** Resolves to the result of the work, or to the new task once it is durable. */
  #await (work: Promise<string>, isEarly: boolean): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      let isDecided = false
      const become = this.#become = () => {
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
        if (this.#mustBecome(error)) become()
        if (isDecided) return false
        isDecided = true
        return true
      }
      work.then(
        (result) => { if (mayAnswer()) resolve(result) },
        (error: unknown) => { if (mayAnswer(error)) reject(error) }
      )
      if (isEarly) become()
      else this.#request.lifetime.onPassed(this.#dependencies.graceMs, become)
    })
  }

  /** Whether a call that has ended is a task all the same. Questions come first, and refusals are no work. */
  #mustBecome (error?: unknown): boolean {
    return this.#rule.requiredCapabilities !== undefined && !(error instanceof NotAllowed) &&
      this.#request.observed.special !== 'input_required'
  }

  /** Resolves to the run, and to the answer: a CreateTaskResult. */
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

  /** The time comes first: a task without one would be lost with its replica. */
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

// What callers may do with their tasks. A task of another caller, or of a tool that is hidden from the
// caller, looks like an unknown task.

import type { Principal } from '../../../platform/access/principal.ts'
import type { Snapshot } from '../../../catalog/compiled/snapshot.ts'
import { holdsScope } from '../../../catalog/compiled/scopes/scope-hierarchy.ts'
import { taskNotReadable, unknownTask } from '../../../platform/protocol/errors.ts'
import { isTerminal } from '../../../platform/protocol/tasks.ts'
import { hasAnswer, type Responses } from '../machine/questions.ts'
import { isCounted, phaseOf, toKeptPrincipal, type TaskRecord } from '../records/record.ts'
import { toDetailedTask } from '../records/task-json.ts'
import type { StoredTask, TaskKey } from '../records/records.ts'
import type { TaskRunner } from '../runs/runner.ts'
import type { TaskEvent } from '../machine/events.ts'
import type { Applied, TransitionDependencies, Transitions } from '../machine/transitions.ts'

export interface TaskAccessDependencies extends Pick<TransitionDependencies, 'records' | 'storeClock'> {
  readonly transitions: Transitions
  readonly runner: TaskRunner
  /** The present state of the catalog. */
  snapshot (): Snapshot
}

/** A task and its name. */
export interface SeenTask extends StoredTask { readonly key: TaskKey }

/** All methods reject with the error for an unknown task if the principal may not see such a task. */
export class TaskAccess {
  readonly #dependencies: TaskAccessDependencies

  constructor (dependencies: TaskAccessDependencies) {
    this.#dependencies = dependencies
  }

  /** Resolves to the task with the details of its status, as members of a JSON object. */
  async get (principal: Principal, id: string): Promise<string> {
    const { key, record } = await this.see(principal, id)
    return toDetailedTask(key.id, record, this.#dependencies.storeClock.now())
  }

  /**
   * Resolves to what the caller may be told. The handler runs with the scopes of the last caller who was
   * allowed to see the task.
   */
  async see (principal: Principal, id: string): Promise<SeenTask> {
    const event = { type: 'accessed', principal: toKeptPrincipal(principal) } as const
    for (;;) {
      const applied = await this.#apply(principal, id, event)
      if (await this.mayTell(applied.key, applied)) return applied
    }
  }

  /**
   * Keeps the answers to open questions, also while the handler runs, and ignores all others: the first
   * answer to a question counts. A handler that waits for them runs again after the last one. Rejects with a
   * TaskNotReadable while a run of an earlier release would drop them. Resolves to the record after that.
   */
  async update (principal: Principal, id: string, responses: Responses): Promise<TaskRecord> {
    for (;;) {
      const { key, ...stored } = await this.#find(principal, id)
      const applied = hasAnswer(stored.record, responses)
        ? await this.#answer(principal, key, stored, responses)
        : { ...stored, transition: undefined }
      const isOpen = phaseOf(applied.record) === 'running' && hasAnswer(applied.record, responses)
      if (applied.transition === undefined && isOpen) throw taskNotReadable()
      if (await this.#isDurable(key, applied)) return applied.record
    }
  }

  /** Does nothing if the task has ended. */
  async cancel (principal: Principal, id: string): Promise<void> {
    for (;;) {
      const applied = await this.#apply(principal, id, { type: 'cancelled' })
      if (await this.#isDurable(applied.key, applied)) return
    }
  }

  /** Leaves the open questions of a task to the model: its client has nobody whom it could ask. */
  async leaveToModel (principal: Principal, id: string): Promise<void> {
    await this.#apply(principal, id, { type: 'unattended' })
  }

  /**
   * Resolves to whether a client may be told of this record. The end of a task must be durable, because the
   * client does not ask again. A question must be, because an answer to a question that a failover has lost
   * is ignored. If not, a failover has lost the record: read it again.
   */
  async mayTell (key: TaskKey, { record, version }: StoredTask): Promise<boolean> {
    const { status } = record
    if (!isTerminal(status) && status !== 'input_required') return true
    return await this.#dependencies.records.confirm(key, version)
  }

  /**
   * Whether the principal may see a task of this tool now. Throws an InsufficientScope if it could with more.
   */
  isVisible (principal: Principal, { tool, toolScopes }: Pick<TaskRecord, 'tool' | 'toolScopes'>): boolean {
    const snapshot = this.#dependencies.snapshot()
    if (snapshot.view(principal).tool(tool) !== undefined) return true
    // Another release began the task.
    const isUnknown = !snapshot.primitives.tools.some(({ key }) => key === tool)
    return isUnknown && toolScopes.every((scope) => holdsScope(principal.scopes, scope, snapshot.hierarchy))
  }

  async #answer (principal: Principal, key: TaskKey, stored: StoredTask, responses: Responses) {
    const { records, runner, transitions } = this.#dependencies
    const isUncounted = phaseOf(stored.record) === 'asking' && !isCounted(stored.record)
    if (isUncounted) await records.reserve(key, stored.record)
    const mayRun = runner.hasRoom(stored.record) && await runner.mayRun(stored.record)
    const event = { type: 'answered', responses, principal: toKeptPrincipal(principal), mayRun } as const
    const applied = await transitions.apply(key, event, { from: stored })
    if (applied === undefined) throw unknownTask()
    // It may have ended meanwhile.
    if (isUncounted && !isCounted(applied.record)) await records.release(key, applied.record)
    if (applied.transition?.isClaimed === true) runner.run(key, applied)
    return applied
  }

  /**
   * Resolves to whether the record is durable: a write is, and what was found is confirmed. If not, it was
   * written again, or a failover has lost it.
   */
  async #isDurable (key: TaskKey, { transition, version }: Pick<Applied, 'transition' | 'version'>) {
    return transition?.record !== undefined || await this.#dependencies.records.confirm(key, version)
  }

  async #apply (principal: Principal, id: string, event: TaskEvent) {
    const { key, ...stored } = await this.#find(principal, id)
    const applied = await this.#dependencies.transitions.apply(key, event, { from: stored })
    if (applied === undefined) throw unknownTask()
    return { key, ...applied }
  }

  async #find (principal: Principal, id: string): Promise<SeenTask> {
    const { records } = this.#dependencies
    const key = records.keyOf(principal, id)
    const stored = key && await records.read(key)
    if (key === undefined || stored === undefined) throw unknownTask()
    if (!this.isVisible(principal, stored.record)) throw unknownTask()
    return { key, ...stored }
  }
}

// What callers may do with their tasks. A task of another caller, or of a tool that is hidden from the
// caller, looks like an unknown task.

import type { Principal } from '../access/principal.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { holdsScope } from '../catalog/compiled/scopes/scope-hierarchy.ts'
import { unknownTask } from '../protocol/errors.ts'
import { isTerminal } from '../protocol/tasks.ts'
import { hasAnswer, type Responses } from './questions.ts'
import { toDetailedTask, toKeptPrincipal, type TaskRecord } from './record.ts'
import type { StoredTask, TaskKey } from './records.ts'
import type { TaskRunner } from './runner.ts'
import type { TaskEvent } from './events.ts'
import type { TransitionDependencies, Transitions } from './transitions.ts'

export interface TaskAccessDependencies extends Pick<TransitionDependencies, 'records' | 'storeClock'> {
  readonly transitions: Transitions
  readonly runner: TaskRunner
  /** The present state of the catalog. */
  snapshot (): Snapshot
}

/** All methods reject with the error for an unknown task if the principal may not see such a task. */
export class TaskAccess {
  readonly #dependencies: TaskAccessDependencies

  constructor (dependencies: TaskAccessDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Resolves to the task with the details of its status, as members of a JSON object. The handler runs with
   * the scopes of the last caller who was allowed to see the task.
   */
  async get (principal: Principal, id: string): Promise<string> {
    const event = { type: 'accessed', principal: toKeptPrincipal(principal) } as const
    const applied = await this.#apply(principal, id, event)
    await this.confirmEnd(applied.key, applied)
    return toDetailedTask(applied.key.id, applied.record, this.#dependencies.storeClock.now())
  }

  /**
   * Keeps the answers to open questions, and ignores all others. The handler runs again after the last one.
   */
  async update (principal: Principal, id: string, responses: Responses): Promise<void> {
    const { runner, transitions } = this.#dependencies
    const { key, ...stored } = await this.#find(principal, id)
    if (!hasAnswer(stored.record, responses)) return await transitions.confirm(key, stored)
    const mayRun = runner.hasRoom(stored.record) && await runner.mayRun(stored.record)
    const event = { type: 'answered', responses, principal: toKeptPrincipal(principal), mayRun } as const
    const applied = await transitions.apply(key, event, { from: stored })
    if (applied === undefined) throw unknownTask()
    if (applied.transition?.record === undefined) await transitions.confirm(key, applied)
    else if (applied.transition.isClaimed) runner.run(key, applied)
  }

  /** Does nothing if the task has ended. */
  async cancel (principal: Principal, id: string): Promise<void> {
    const applied = await this.#apply(principal, id, { type: 'cancelled' })
    if (applied.transition === undefined) await this.#dependencies.transitions.confirm(applied.key, applied)
  }

  /** Waits until the end of the task is durable: a client that was told of it does not ask again. */
  async confirmEnd (key: TaskKey, stored: StoredTask): Promise<void> {
    if (isTerminal(stored.record.status)) await this.#dependencies.transitions.confirm(key, stored)
  }

  /**
   * Whether the principal may see a task of this tool now. Throws an InsufficientScope if it could with more.
   */
  isVisible (principal: Principal, { tool, toolScopes }: TaskRecord): boolean {
    const snapshot = this.#dependencies.snapshot()
    if (snapshot.view(principal).tool(tool) !== undefined) return true
    // Another release began the task.
    const isUnknown = !snapshot.primitives.tools.some(({ key }) => key === tool)
    return isUnknown && toolScopes.every((scope) => holdsScope(principal.scopes, scope, snapshot.hierarchy))
  }

  async #apply (principal: Principal, id: string, event: TaskEvent) {
    const { key, ...stored } = await this.#find(principal, id)
    const applied = await this.#dependencies.transitions.apply(key, event, { from: stored })
    if (applied === undefined) throw unknownTask()
    return { key, ...applied }
  }

  async #find (principal: Principal, id: string): Promise<StoredTask & { readonly key: TaskKey }> {
    const { records } = this.#dependencies
    const key = records.keyOf(principal, id)
    const stored = key && await records.read(key)
    if (key === undefined || stored === undefined) throw unknownTask()
    if (!this.isVisible(principal, stored.record)) throw unknownTask()
    return { key, ...stored }
  }
}

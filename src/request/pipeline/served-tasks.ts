// What a service has of its tasks, beside what requests use: for operators, for metrics, and for its end.

import type { Method } from './method.ts'
import type { TaskFollowers, TaskStarter, ToolRuns } from './seams.ts'

/** The tasks that an operator asks for. All by default. */
export interface TaskQuery {
  readonly status?: string
  readonly phase?: string
  readonly undo?: string
  readonly tool?: string
  readonly subject?: string
  readonly olderThanMs?: number
}

export interface OperatorChange {
  readonly outcome: 'done' | 'refused' | 'unknown'
  /** Continues "The task". */
  readonly problem?: string
  readonly task?: {
    readonly taskId: string
    readonly tool?: string
    readonly requestId?: string
    readonly subject?: string | undefined
  }
}

/** The tasks of all owners. Each method rejects if the store is not available. */
export interface OperatedTasks {
  /** Rejects with a RangeError for a cursor that is none. */
  list (
    query: TaskQuery, cursor: string | undefined, limit: number
  ): Promise<{ readonly tasks: readonly object[] }>
  /** Resolves to `undefined` for an unknown task. */
  show (id: string): Promise<object | undefined>
  /** Writes what the handler of the task came to. */
  record (
    id: string, options: { readonly trivet: string, readonly hasValues: boolean }
  ): Promise<OperatorChange & { readonly recording?: object }>
  cancel (id: string): Promise<OperatorChange>
  retry (id: string): Promise<OperatorChange>
  /** Counts the tasks that are due and that no replica runs, by reason. */
  countStuck (): Promise<object>
}

export interface ServedTasks {
  readonly starter: TaskStarter
  readonly methods: readonly Method[]
  readonly followers: TaskFollowers
  /** What operators see and change. */
  readonly operator: OperatedTasks
  readonly counts: {
    /** How many tasks run on this replica. */
    readonly running: number
    /** How often a task was left to other replicas, by reason. */
    readonly left: { readonly [reason: string]: number }
    /** How often the work of a task was undone, by outcome. */
    readonly undos: { readonly [outcome: string]: number }
    /** How often the loss of a replica was noticed, by how often in a row its task was lost. */
    readonly losses: { readonly [inARow: number]: number }
  }
  /** Begins to run due tasks. */
  start (toolRuns: ToolRuns): void
  /** Looks for due tasks now. */
  look (): void
  /** Runs no further tasks, and ends the waits for those of other replicas. The present runs continue. */
  stopTaking (): void
  /** Resolves after the last writes of all runs that have ended. */
  close (): Promise<void>
}

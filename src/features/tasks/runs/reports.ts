// What the log, the metrics and operators learn of tasks: which this replica leaves to others, which lost
// their replica, which go on in changed code, and which were undone.

import type { CompiledTool } from '../../../catalog/compiled/compiled-primitive.ts'
import type { RequestLog } from '../../../request/pipeline/caller.ts'
import type { TaskRecord } from '../records/record.ts'
import type { TaskKey } from '../records/records.ts'

/**
 * This replica lacks the secret of the record; a newer release wrote it; the release here has no such tool or
 * other arguments of it; or the code of the tool has changed here, and the task must not go on in it.
 */
export type LeftReason = 'sealed' | 'newer' | 'unknown' | 'changed'

/** What a replica has counted. */
export interface TaskCounts {
  /** How often a task was left to other replicas, by reason. */
  readonly left: { readonly [K in LeftReason]: number }
  /** How often the loss of a replica was noticed here, by how often in a row its task was lost. */
  readonly losses: { readonly [inARow: number]: number }
  /** How often the work of a task was undone, and how often that failed. */
  readonly undos: { readonly done: number, readonly failed: number }
}

/** How many tasks are remembered: each is logged once. */
const MAX_REMEMBERED = 1000

export class TaskReports implements TaskCounts {
  readonly left = { sealed: 0, newer: 0, unknown: 0, changed: 0 }
  readonly losses: { [inARow: number]: number } = { 1: 0, 2: 0, 3: 0, 4: 0 }
  readonly undos = { done: 0, failed: 0 }
  readonly #log: Pick<RequestLog, 'info' | 'warn'>
  readonly #left = new Map<string, LeftReason>()
  readonly #changed = new Map<string, string>()

  constructor (log: Pick<RequestLog, 'info' | 'warn'>) { this.#log = log }

  /** Whether this replica has left tasks to others that it has not taken up since. */
  get hasLeft (): boolean { return this.#left.size > 0 }

  /** Why this replica has left the task when it looked last. `undefined` if it has not. */
  leftReason (entry: string): LeftReason | undefined { return this.#left.get(entry) }

  noteLeft ({ entry }: TaskKey, reason: LeftReason, record?: TaskRecord): void {
    this.left[reason]++
    if (this.#left.has(entry)) return
    remember(this.#left, entry, reason)
    this.#log.warn({ reqId: record?.requestId, name: record?.tool }, LEFT[reason])
  }

  /** @param tool present if its code has changed since the task began. */
  noteRun ({ entry }: TaskKey, { requestId: reqId }: TaskRecord, tool: CompiledTool | undefined): void {
    if (tool === undefined || this.#changed.has(entry)) return
    remember(this.#changed, entry, tool.key)
    this.#log.info({ reqId, name: tool.key, file: tool.file }, 'a task goes on in changed code')
  }

  noteTaken ({ entry }: TaskKey): void { this.#left.delete(entry) }

  /** Reports what a look at a due task has changed. @param changed its tool, if that has other code now. */
  noteLook (before: TaskRecord, record: TaskRecord, changed: CompiledTool | undefined): void {
    const { tool: name, requestId: reqId, status } = before
    const facts = { reqId, name, losses: record.losses, ...changed !== undefined && { file: changed.file } }
    if (record.status === 'failed' && status !== 'failed') {
      this.#log.warn({ ...facts, err: new Error(record.statusMessage) }, 'task failed')
    }
    if (record.losses <= before.losses) return
    this.losses[record.losses] = (this.losses[record.losses] ?? 0) + 1
    this.#log.warn(facts, 'the replica of a task was lost')
  }

  noteUndone ({ undo, tool: name, requestId: reqId }: TaskRecord): void {
    const isDone = undo === 'done'
    this.undos[isDone ? 'done' : 'failed']++
    if (isDone) this.#log.info({ reqId, name }, 'the work of a task was undone')
    else this.#log.warn({ reqId, name }, 'the work of a task was not undone')
  }
}

function remember<T> (entries: Map<string, T>, entry: string, value: T): void {
  if (entries.size >= MAX_REMEMBERED) entries.clear()
  entries.set(entry, value)
}

const LEFT: { readonly [K in LeftReason]: string } = {
  sealed: 'a task was left to other replicas: TRIVET_SECRETS lacks the secret that sealed it',
  newer: 'a task was left to other replicas: a newer release wrote its record',
  changed: 'a task was left to other replicas: its tool has changed here, and has onDeploy: fail',
  unknown: 'a task was left to other replicas: this catalog lacks its tool, or the tool refuses its arguments'
}

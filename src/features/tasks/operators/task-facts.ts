// A task as operators see it. No answer and no result is in it, and no argument, unless the definition of the
// tool lets the audit log keep arguments.

import { isTerminal, type TaskStatus } from '../../../platform/protocol/tasks.ts'
import {
  endOf, isAsleep, openQuestions, phaseOf, type TaskPhase, type TaskRecord
} from '../records/record.ts'
import type { TaskKey } from '../records/records.ts'
import type { LeftReason } from '../runs/reports.ts'

/** Why a task waits: `replica` for one that is ready, and that no replica has taken yet. */
type WaitReason = 'question' | 'sleep' | 'loss' | 'limit' | 'outage' | 'replica'

/** A task for operators, as JSON. Times are ISO 8601. */
export interface TaskFacts {
  readonly taskId: string
  readonly status: TaskStatus
  readonly phase: TaskPhase
  /** How `undo` has ended, or that it is due. Absent if nothing is to be undone. */
  readonly undo?: 'due' | 'done' | 'failed' | undefined
  readonly tool: string
  /** Absent for an anonymous owner. */
  readonly subject?: string | undefined
  readonly clientId?: string | undefined
  readonly createdAt: string
  readonly ageMs: number
  readonly lastUpdatedAt: string
  /** When the record is removed. */
  readonly expiresAt: string
  /** The runs so far, with those of `undo`. */
  readonly runs: number
  /** The step that the handler came to last, and how many are kept: those of `undo` once it is due. */
  readonly lastStep?: string | undefined
  readonly steps: number
  /** How often in a row the replica of the task was lost without a new step. */
  readonly losses: number
  readonly waitsFor?: WaitReason | undefined
  /** When the handler runs again, if nothing else happens before. */
  readonly wakesAt?: string | undefined
  /** The keys of the open questions. */
  readonly questions?: readonly string[] | undefined
  /** Why the replica that answers has left the task to others. */
  readonly left?: LeftReason | undefined
  /** When a replica looks at the task. For a task that runs, this is the end of its lease. */
  readonly dueAt: string
  /** Whether no replica has looked for two leases after that time. */
  readonly isOverdue: boolean
  /** The code of the error of a failed task. Its message may have arguments. */
  readonly errorCode?: number | undefined
  /** The id of the call in the log. */
  readonly requestId: string
  readonly traceId?: string | undefined
  /** The arguments, as the audit log may keep them. */
  readonly arguments?: unknown
}

/** A task whose record this replica cannot read: it lacks the secret, or a newer release wrote the record. */
export interface UnreadTask { readonly taskId: string, readonly left: 'sealed' | 'newer' }

export interface TaskFilter {
  readonly status?: string | undefined
  readonly phase?: string | undefined
  readonly undo?: string | undefined
  readonly tool?: string | undefined
  readonly subject?: string | undefined
  readonly olderThanMs?: number | undefined
}

/** Returns what the record says. */
export function toFacts (
  { id }: TaskKey, record: TaskRecord, now: number
): Omit<TaskFacts, 'left' | 'dueAt' | 'isOverdue'> {
  const { status, tool, principal, createdAt, updatedAt, run, losses, wakesAt, error } = record
  const journal = record.undo === undefined ? record : record.undoJournal
  const phase = phaseOf(record)
  return {
    taskId: id,
    status,
    phase,
    undo: record.undo,
    tool,
    subject: principal.subject,
    clientId: principal.clientId,
    createdAt: toIso(createdAt),
    ageMs: Math.max(0, Math.round(now - createdAt)),
    lastUpdatedAt: toIso(updatedAt),
    expiresAt: toIso(endOf(record)),
    // The end of a task takes a number too.
    runs: isTerminal(status) ? run - 1 : run,
    lastStep: journal?.order.findLast(({ kind }) => kind === 'step')?.key,
    steps: Object.keys(journal?.results ?? {}).length,
    losses,
    waitsFor: waitReasonOf(record),
    wakesAt: wakesAt === undefined ? undefined : toIso(wakesAt),
    questions: phase === 'asking' ? openQuestions(record).map(([name]) => name) : undefined,
    errorCode: error === undefined ? undefined : JSON.parse(error).code,
    requestId: record.requestId,
    traceId: record.traceId
  }
}

function waitReasonOf (record: TaskRecord): WaitReason | undefined {
  const reason = record.pause ?? (isAsleep(record) ? 'sleep' : 'replica')
  switch (phaseOf(record)) {
    case 'running': case 'undoing': return undefined
    case 'over': return record.undo === 'due' ? reason : undefined
    case 'asking': return 'question'
    case 'waiting': return reason
  }
}

export function matches (task: TaskFacts | UnreadTask, filter: TaskFilter): boolean {
  const { olderThanMs, ...equal } = filter
  const conditions = Object.entries(equal).filter(([, value]) => value !== undefined)
  // Without its record, no filter can match a task.
  if (!('status' in task)) return conditions.length === 0 && olderThanMs === undefined
  const members: { readonly [name: string]: unknown } = { ...task }
  return conditions.every(([name, value]) => members[name] === value) && task.ageMs >= (olderThanMs ?? 0)
}

/** Says why a task was not changed, in words that continue "The task". */
export function refusalOf (task: TaskFacts | UnreadTask): string {
  if (!('phase' in task)) {
    return task.left === 'sealed'
      ? 'is sealed with a secret that this replica lacks. Ask another replica'
      : 'was written by a newer release. Ask a replica of that release'
  }
  const { phase, status, undo, wakesAt } = task
  switch (phase) {
    case 'over': return `has ended: ${status}${undo === 'due' ? ', and its work is to be undone' : ''}`
    case 'undoing': return `has ended: ${status}, and its work is being undone`
    case 'running': return 'runs, or is taken over when its lease has ended'
    case 'asking': return 'waits for an answer of its user'
    case 'waiting': return `sleeps until ${wakesAt}`
  }
}

/** @param time milliseconds since the epoch. */
export function toIso (time: number): string {
  return new Date(time).toISOString()
}

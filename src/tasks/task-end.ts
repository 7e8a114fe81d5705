// How the runs of tasks end: the last write of the record, and when the task is due next.

import type { ProtocolError } from '../protocol/errors.ts'
import type { TaskJournal } from './task-journal.ts'
import { addQuestions } from './task-questions.ts'
import { timeLeft, type TaskRecord } from './task-record.ts'
import type { StoredTask, TaskKey } from './task-records.ts'
import type { TaskWriter, TaskWriterDependencies } from './task-writer.ts'

export interface TaskEndDependencies extends TaskWriterDependencies {
  /** Makes the task due after this time. */
  setDue (key: TaskKey, inMs: number): Promise<void>
  removeDue (key: TaskKey): Promise<void>
  /** Tells all replicas that the status has changed. */
  announce (key: TaskKey, isOver: boolean): void
}

/** What a run writes last. Its other changes are written with it. */
export type WriteLast = (change: () => Partial<TaskRecord>) => Promise<void>

/** The run has ended the task. */
export async function finishTask (
  dependencies: TaskEndDependencies, { key, record }: TaskWriter, write: WriteLast,
  change: Partial<TaskRecord>
): Promise<void> {
  await write(() => ({ isRunning: false, wakesAt: undefined, ...change }))
  dependencies.announce(key, true)
  await forgetTask(dependencies, key, record)
}

/**
 * Ends a task from outside of its run, which writes nothing after it. Resolves to whether the record was
 * still the one that was read.
 */
export async function endTask (
  dependencies: TaskEndDependencies, key: TaskKey, { record, version }: StoredTask,
  change: Partial<TaskRecord>
): Promise<boolean> {
  const { records, now } = dependencies
  const ended = {
    ...record, ...change, run: record.run + 1, isRunning: false, wakesAt: undefined, updatedAt: now()
  }
  if (await records.replace(key, version, ended) === undefined) return false
  dependencies.announce(key, true)
  await forgetTask(dependencies, key, record)
  return true
}

/**
 * The handler runs again after a sleep, or after the answers of the client. The time is set before the record
 * says that nobody runs the task: without one it would be lost.
 */
export async function suspendTask (
  { now: clock, setDue, announce }: TaskEndDependencies, writer: TaskWriter, journal: TaskJournal,
  write: WriteLast
): Promise<void> {
  const { key, record } = writer
  const { asked, wakesAt } = journal
  const now = clock()
  const questions = addQuestions(record.questions, asked)
  journal.dropUnfitAnswers()
  const endsAt = now + timeLeft(record, now)
  const dueAt = Math.min(wakesAt ?? endsAt, endsAt)
  await writer.insist(async () => await setDue(key, Math.max(0, dueAt - now)))
  const status = asked.size > 0 ? 'input_required' : 'working'
  await write(() => ({ isRunning: false, status, wakesAt, questions }))
  if (status !== 'working') announce(key, false)
}

/** Leaves the task to the replica that looks for due tasks next. */
export async function releaseTask (
  { now, setDue }: TaskEndDependencies, writer: TaskWriter, write: WriteLast, inMs: number
): Promise<void> {
  await writer.insist(async () => await setDue(writer.key, inMs))
  const wakesAt = now() + inMs
  await write(() => ({ isRunning: false, wakesAt }))
}

export function toTaskFailure (error: ProtocolError): Partial<TaskRecord> {
  const { code, message, data } = error
  return { status: 'failed', statusMessage: message, error: JSON.stringify({ code, message, data }) }
}

/** Nobody looks after the task any more. If this replica is lost here, the next one that does repeats it. */
export async function forgetTask (
  { records, removeDue }: TaskEndDependencies, key: TaskKey, record: TaskRecord
): Promise<void> {
  await records.release(key, record)
  await removeDue(key)
}

// The ends of runs: the last write of the record, and the next due time of the task.

import type { ProtocolError } from '../protocol/errors.ts'
import type { TaskJournal } from './journal.ts'
import { addQuestions, timeLeft, type TaskRecord } from './record.ts'
import type { StoredTask, TaskKey } from './records.ts'
import type { TaskWriter, TaskWriterDependencies } from './writer.ts'

export interface TaskEndDependencies extends TaskWriterDependencies {
  /** Makes the task due after this time. */
  setDue (key: TaskKey, inMs: number): Promise<void>
  removeDue (key: TaskKey): Promise<void>
  /** Tells all replicas that the status has changed. */
  announce (key: TaskKey, isOver: boolean): void
}

/** Writes the change together with everything that the run has not written yet. */
export type WriteLast = (change: () => Partial<TaskRecord>) => Promise<void>

/** Ends the task with the outcome of its run. */
export async function finishTask (
  dependencies: TaskEndDependencies, { key, record }: TaskWriter, write: WriteLast,
  change: Partial<TaskRecord>
): Promise<void> {
  await write(() => ({ isRunning: false, wakesAt: undefined, ...change }))
  dependencies.announce(key, true)
  await forgetTask(dependencies, key, record)
}

/**
 * Ends a task from outside its run. The new run number refuses all later writes of the run. Resolves to
 * whether the record was unchanged since it was read.
 */
export async function endTask (
  dependencies: TaskEndDependencies, key: TaskKey, { record, version }: StoredTask,
  change: Partial<TaskRecord>
): Promise<boolean> {
  const { records, now, announce } = dependencies
  const last = {
    ...record, ...change, run: record.run + 1, isRunning: false, wakesAt: undefined, updatedAt: now()
  }
  if (await records.replace(key, version, last) === undefined) return false
  announce(key, true)
  await forgetTask(dependencies, key, record)
  return true
}

/**
 * Ends a run whose handler must run again: after a sleep, or after the answers of the client. Sets the due
 * time before the record stops running: a task with neither would be lost.
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

/** Leaves the task to the next replica that looks for due tasks. */
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

/**
 * Frees the place and the due time. Idempotent: if this replica dies in between, the next one repeats it.
 */
export async function forgetTask (
  { records, removeDue }: TaskEndDependencies, key: TaskKey, record: TaskRecord
): Promise<void> {
  await records.release(key, record)
  await removeDue(key)
}

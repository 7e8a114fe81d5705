// A task as its client sees it.

import {
  isTerminal, toTaskMembers, type Task, type TaskDetails
} from '../../../platform/protocol/tasks.ts'
import { lifetimeOf, openQuestions, type OpenQuestions, type TaskRecord } from './record.ts'

/** The poll interval for clients, in milliseconds. It is longer while the task sleeps. */
const POLL_MS = 1000
const MAX_POLL_MS = 30_000

/** Writes the task without the details of its status, as members of a JSON object. */
export function toTaskSeed (id: string, record: TaskRecord, now: number): string {
  return toTaskMembers(toTask(id, record, now))
}

/** Writes the task with the details of its status, as members of a JSON object. */
export function toDetailedTask (id: string, record: TaskRecord, now: number): string {
  return toTaskMembers(toTask(id, record, now), detailsOf(record))
}

function toTask (id: string, record: TaskRecord, now: number): Task {
  const { status, statusMessage, createdAt, updatedAt, ttlMs, wakesAt = 0 } = record
  return {
    taskId: id,
    status,
    statusMessage,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    // The end of a task adds the time for its result: the value never shrinks.
    ttlMs: isTerminal(status) ? lifetimeOf(record) : ttlMs,
    pollIntervalMs: isTerminal(status)
      ? POLL_MS
      : Math.round(Math.min(MAX_POLL_MS, Math.max(POLL_MS, wakesAt - now)))
  }
}

function detailsOf ({ status, questions, result, error }: TaskRecord): TaskDetails {
  switch (status) {
    case 'input_required': return { inputRequests: toRequestsJson(openQuestions({ questions })) }
    case 'completed': return result === undefined ? {} : { result }
    case 'failed': return error === undefined ? {} : { error }
    case 'working': case 'cancelled': return {}
  }
}

function toRequestsJson (questions: OpenQuestions): string {
  return `{${questions.map(([key, { json }]) => `${JSON.stringify(key)}:${json}`).join(',')}}`
}

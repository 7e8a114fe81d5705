// A task as its client sees it.

import {
  isTerminal, toTaskMembers, type Task, type TaskDetails
} from '../../../platform/protocol/tasks.ts'
import { toHostRequests } from '../../../request/questions/host-needs.ts'
import { toObjectJson } from '../../../request/questions/request-state.ts'
import { lifetimeOf, openQuestions, type TaskRecord } from './record.ts'

/** The poll interval for clients, in milliseconds. It is longer while the task sleeps. */
const POLL_MS = 1000
const MAX_POLL_MS = 30_000

/** Writes the task without the details of its status, as members of a JSON object. */
export function toTaskSeed (id: string, record: TaskRecord, now: number): string {
  return toTaskMembers(toTask(id, record, now))
}

/** Writes the task with the details of its status, as members of a JSON object. */
export function toDetailedTask (id: string, record: TaskRecord, now: number): string {
  return toTaskMembers(toTask(id, record, now), detailsOf(id, record))
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

function detailsOf (id: string, record: TaskRecord): TaskDetails {
  const { status, result, error } = record
  switch (status) {
    case 'input_required': return { inputRequests: toRequestsJson(id, record) }
    case 'completed': return result === undefined ? {} : { result }
    case 'failed': return error === undefined ? {} : { error }
    case 'working': case 'cancelled': return {}
  }
}

/** A client reads the task several times: a question has the same id each time. */
function toRequestsJson (id: string, record: TaskRecord): string {
  const requests = new Map(openQuestions(record).map(([key, { json }]) => [key, json]))
  return toObjectJson(toHostRequests(requests, record.client.info, (key) => `${id}/${key}`))
}

// What the service keeps of a task, and how its clients see it.

import type { Principal } from '../access/principal.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { Implementation } from '../protocol/primitives.ts'
import { isTerminal, toTaskMembers, type Task, type TaskDetails, type TaskStatus } from '../protocol/tasks.ts'

/** One question to the client. If its answer does not fit, the next attempt is another question. */
export interface TaskQuestion {
  /** The key in the handler's `ctx.ask`. */
  readonly key: string
  /** The input request, as JSON. */
  readonly json: string
  readonly isAnswered: boolean
}

/** Texts of JSON, by key. */
type Texts = { readonly [key: string]: string }

/** What does not change in the life of a task. */
export interface TaskOrigin {
  readonly tool: string
  /** The arguments as the client sent them. */
  readonly args: unknown
  readonly principal: Omit<Principal, 'scopes'> & { readonly scopes: readonly string[] }
  /** What the client declared in its call. */
  readonly client: {
    readonly revision: string
    readonly capabilities: ClientCapabilities
    readonly info?: Implementation | undefined
  }
  /** The network of the anonymous caller that began the task: the task counts for its share. */
  readonly network?: string | undefined
  /** The id of the call in the service's log. */
  readonly requestId: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly ttlMs: number
  readonly keepResultMs: number
  readonly mayRerun: boolean
}

export interface TaskRecord extends TaskOrigin {
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  readonly updatedAt: number
  /** The number of the latest run. What an earlier run writes is refused. */
  readonly run: number
  /** Whether a replica runs the handler. Otherwise the task sleeps, waits for answers or has ended. */
  readonly isRunning: boolean
  /** When the task ends its sleep. */
  readonly wakesAt?: number | undefined
  /** By the key that the client sees. */
  readonly questions: { readonly [key: string]: TaskQuestion }
  readonly answers: Texts
  readonly results: Texts
  /** When each sleep ends, by its position among the sleeps of the handler. 0 if it is over. */
  readonly sleeps: { readonly [index: string]: number }
  /** Of a failed task, as JSON. */
  readonly error?: string | undefined
  /** Of a completed task, as JSON. */
  readonly result?: string | undefined
}

/** How often a client should ask, in milliseconds. A sleeping task changes later. */
const POLL_MS = 1000
const MAX_POLL_MS = 30_000

/** The result is on a line of its own: it is JSON already, and is not written again. */
export function toTaskBytes ({ result = '', ...head }: TaskRecord): Buffer {
  return Buffer.from(`${JSON.stringify(head)}\n${result}`)
}

export function readTaskBytes (bytes: Buffer): TaskRecord {
  const end = bytes.indexOf('\n')
  const head: Omit<TaskRecord, 'result'> = JSON.parse(bytes.toString('utf8', 0, end))
  return end + 1 === bytes.length ? head : { ...head, result: bytes.toString('utf8', end + 1) }
}

/** How long the record is kept: the whole time of the task, and then that of its result. */
export function lifetimeOf ({ ttlMs, keepResultMs }: Pick<TaskOrigin, 'ttlMs' | 'keepResultMs'>): number {
  return ttlMs + keepResultMs
}

/** When the record is dropped at the latest, in milliseconds since the epoch. */
export function endOf (origin: TaskOrigin): number {
  return origin.createdAt + lifetimeOf(origin)
}

/** What is left of the time of the task, in milliseconds. */
export function timeLeft ({ createdAt, ttlMs }: TaskOrigin, now: number): number {
  return Math.max(0, createdAt + ttlMs - now)
}

/** The questions that the client has not answered. */
export function openQuestions ({ questions }: TaskRecord): ReadonlyArray<readonly [string, TaskQuestion]> {
  return Object.entries(questions).filter(([, { isAnswered }]) => !isAnswered)
}

/** The task without what belongs to its status, as the members of a JSON object. */
export function toTaskSeed (id: string, record: TaskRecord, now: number): string {
  return toTaskMembers(toTask(id, record, now))
}

/** All of the task, as the members of a JSON object. */
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
    // A task that has ended is kept for longer. It is never kept for less than was said before.
    ttlMs: isTerminal(status) ? lifetimeOf(record) : ttlMs,
    pollIntervalMs: Math.round(Math.min(MAX_POLL_MS, Math.max(POLL_MS, wakesAt - now)))
  }
}

function detailsOf (record: TaskRecord): TaskDetails {
  const { status, result, error } = record
  switch (status) {
    case 'input_required': return { inputRequests: toRequestsJson(openQuestions(record)) }
    case 'completed': return result === undefined ? {} : { result }
    case 'failed': return error === undefined ? {} : { error }
    case 'working': return {}
    case 'cancelled': return {}
  }
}

function toRequestsJson (questions: ReturnType<typeof openQuestions>): string {
  return `{${questions.map(([key, { json }]) => `${JSON.stringify(key)}:${json}`).join(',')}}`
}

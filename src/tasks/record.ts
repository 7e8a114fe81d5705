// The record of a task: its members, its bytes in the store, and its form for clients.

import type { Principal } from '../access/principal.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { Implementation } from '../protocol/primitives.ts'
import { isTerminal, toTaskMembers, type Task, type TaskDetails, type TaskStatus } from '../protocol/tasks.ts'

/** A question to the client. If the answer does not fit, the handler asks again: that is another question. */
export interface TaskQuestion {
  /** The key in the handler's `ctx.ask`. */
  readonly key: string
  /** The input request, as JSON. */
  readonly json: string
  readonly isAnswered: boolean
}

/** Texts of JSON, by key. */
type Texts = { readonly [key: string]: string }

/** The members that never change. */
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
  /** The number of the latest run. Writes of earlier runs are refused. */
  readonly run: number
  /** Whether a replica runs the handler. If not, the task sleeps, waits for answers or has ended. */
  readonly isRunning: boolean
  /** When the handler runs again, in milliseconds since the epoch. */
  readonly wakesAt?: number | undefined
  /** The questions so far, by the key that the client sees. */
  readonly questions: { readonly [key: string]: TaskQuestion }
  readonly answers: Texts
  readonly results: Texts
  /** The ends of the sleeps in milliseconds since the epoch, in the handler's order. 0: the sleep is over. */
  readonly sleeps: { readonly [index: string]: number }
  /** The error of a failed task, as JSON. */
  readonly error?: string | undefined
  /** The result of a completed task, as JSON. */
  readonly result?: string | undefined
}

/** The poll interval for clients, in milliseconds. It is longer while the task sleeps. */
const POLL_MS = 1000
const MAX_POLL_MS = 30_000

/** Writes the head as JSON on one line. The result follows as it is: it is JSON already. */
export function toTaskBytes ({ result = '', ...head }: TaskRecord): Buffer {
  return Buffer.from(`${JSON.stringify(head)}\n${result}`)
}

export function readTaskBytes (bytes: Buffer): TaskRecord {
  const end = bytes.indexOf('\n')
  const head: Omit<TaskRecord, 'result'> = JSON.parse(bytes.toString('utf8', 0, end))
  return end + 1 === bytes.length ? head : { ...head, result: bytes.toString('utf8', end + 1) }
}

/** Returns how long the record is kept, in milliseconds: the time limit, then the time for the result. */
export function lifetimeOf ({ ttlMs, keepResultMs }: Pick<TaskOrigin, 'ttlMs' | 'keepResultMs'>): number {
  return ttlMs + keepResultMs
}

/** Returns when the record expires, in milliseconds since the epoch. */
export function endOf (origin: TaskOrigin): number {
  return origin.createdAt + lifetimeOf(origin)
}

/** Returns how much of the time limit is left, in milliseconds. */
export function timeLeft ({ createdAt, ttlMs }: TaskOrigin, now: number): number {
  return Math.max(0, createdAt + ttlMs - now)
}

/** Returns the unanswered questions. */
export function openQuestions ({ questions }: TaskRecord): ReadonlyArray<readonly [string, TaskQuestion]> {
  return Object.entries(questions).filter(([, { isAnswered }]) => !isAnswered)
}

/**
 * Adds the questions that the handler asked in this run, and closes all others. Each gets a new key for the
 * client: a client may ignore a key that it has seen before.
 * @param asked the input requests, by the keys of `ctx.ask`.
 */
export function addQuestions (
  before: TaskRecord['questions'], asked: ReadonlyMap<string, string>
): TaskRecord['questions'] {
  const questions = new Map(Object.entries(before).map(([name, question]) => {
    const isStillOpen = !question.isAnswered && asked.get(question.key) === question.json
    // A closed question only reserves its name.
    return [name, isStillOpen ? question : { ...question, json: '', isAnswered: true }]
  }))
  const open = new Set([...questions.values()].flatMap(({ key, isAnswered }) => isAnswered ? [] : [key]))
  for (const [key, json] of asked) {
    if (open.has(key)) continue
    let name = key
    for (let number = 2; questions.has(name); number++) name = `${key} (${number})`
    questions.set(name, { key, json, isAnswered: false })
  }
  return Object.fromEntries(questions)
}

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

// A call of a tool whose calls become tasks, as the models know it.

import type { Sender } from '../cluster.ts'
import type { Operation } from '../probe.ts'
import type { Process } from '../world.ts'

export interface TaskView {
  readonly taskId: string
  readonly status: string
  readonly statusMessage?: string
  readonly inputRequests?: { readonly [name: string]: unknown }
  readonly result?: {
    readonly isError?: boolean
    readonly structuredContent?: {
      readonly values: { [key: string]: string }, readonly answers: { readonly [name: string]: string }
    }
  }
  readonly error?: { readonly code: number, readonly message: string }
}

/** What was known of a job before it was asked for. */
export interface Before {
  readonly at: number
  readonly end: string | undefined
  readonly progress: number
  readonly failovers: number
}

interface Step {
  begins: number
  /** The result that the handler got. */
  value?: string
  /** Whether the handler was told that it has failed. */
  hasFailed?: boolean
  /** Whether that failure is in a record that was acknowledged. */
  isSettled?: boolean
}

/** A call of a handler, or of its undo. */
export interface Run {
  readonly name: string
  readonly by: 'handler' | 'undo'
  readonly process: Process
  readonly at: number
  readonly losses: number
  readonly scopes: string
  /** The steps whose failures it was told of. */
  readonly failures: Step[]
  /** When it has renewed a lease that was over, at the earliest. */
  heldAt?: number
  /** Whether a step of it has begun. */
  hasBegun?: boolean
  hasLeft?: boolean
}

/** An answer that a client has sent to a question, by the name that the client has seen. */
export interface SentAnswer {
  readonly name: string
  readonly by: string
  readonly sentAt: number
  /** Whether it fits the form. */
  readonly isFit: boolean
  /** Whether its sender may answer. */
  readonly isAllowed: boolean
  /** The scopes of its sender. */
  readonly scopes?: string | undefined
  /** Whether a record has had it. */
  isWritten?: boolean
  ackedAt?: number
}

/** A look at a task, or an answer to it: its handler then acts with these scopes. */
export interface Access {
  readonly scopes: string
  readonly sentAt: number
  /** When it was certainly done. */
  ackedAt?: number
}

/** A call of a tool whose calls become tasks. */
export interface Job {
  readonly name: string
  readonly tool: string
  readonly sender: Sender
  readonly program: readonly Operation[]
  /** Whether its client has neither tasks nor elicitation. */
  readonly isPlain: boolean
  /** How often the call is sent, under one key if more than once. */
  readonly copies: number
  /** What its caller was told: nothing, a task, or an answer without a task. */
  known: 'nothing' | 'task' | 'answer'
  id?: string
  /** The entry of its due time, which also names its record. */
  entry?: string
  /** When its record was first seen. */
  recordedAt?: number
  readonly steps: Map<string, Step>
  readonly runs: Map<string, Run>
  /** The last call of its handler. */
  run?: Run
  /** Whether a plain client has its result: the record then goes. */
  isTold?: boolean
  toldAt?: number
  readonly sent: SentAnswer[]
  /** The answers that the handler has got, by the keys of its questions. */
  readonly given: Map<string, string>
  readonly accesses: Access[]
  /** When the handler first came to each of its sleeps. */
  readonly sleeps: Map<string, number>
  /** How many of those who may have asked to cancel it. */
  cancels: number
  /** How far the handler was, as clients were told, and how many failovers there were until then. */
  progress: { at: number, failovers: number }
  /** The replica that its client has left, and when. */
  abandoned?: { readonly process: Process, readonly at: number }
  /** The end that a client has seen, as text. */
  end?: string
  endedAt?: number
  /** Whether its undo was called, and whether it has ended. */
  undoneSince?: number
  isUndone?: boolean
  /** How often its handler and its undo have ended a replica. */
  readonly crashes: { handler: number, undo: number }
  /** Whether its handler has ended before it came to all that it came to before. */
  hasStrayed?: boolean
  /** How often an operator wanted it to run. */
  retries: number
}

/** Forgets what is known of the job: its record had gone, and a repetition of the call is a new call. */
export function beginAnew (job: Job): void {
  for (const facts of [job.steps, job.runs, job.given, job.sleeps]) facts.clear()
  job.sent.length = 0
  job.accesses.length = 0
  job.progress = { at: -1, failovers: 0 }
  job.crashes.handler = 0
  job.crashes.undo = 0
  const seen = ['run', 'isTold', 'toldAt', 'end', 'endedAt', 'undoneSince', 'isUndone'] as const
  for (const key of seen) delete job[key]
}

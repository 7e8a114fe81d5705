// A call of a tool whose calls become tasks, as the models know it.

import type { Sender } from './cluster.ts'
import type { Operation } from './probe.ts'
import type { Process } from './world.ts'

interface Step { begins: number, value?: string }

export interface TaskView {
  readonly taskId: string
  readonly status: string
  readonly inputRequests?: { readonly [name: string]: unknown }
  readonly result?: {
    readonly isError?: boolean
    readonly structuredContent?: { readonly values: { [key: string]: string }, readonly answers: object }
  }
  readonly error?: { readonly code: number, readonly message: string }
}

/** A call of a tool whose calls become tasks. */
export interface Job {
  readonly name: string
  readonly tool: string
  readonly sender: Sender
  readonly program: readonly Operation[]
  /** What its caller was told: nothing, a task, or an answer without a task. */
  known: 'nothing' | 'task' | 'answer'
  id?: string
  readonly steps: Map<string, Step>
  /** Whether a plain client has its result: the record then goes. */
  isTold?: boolean
  /** The answers that clients have sent. */
  readonly answers: Set<string>
  /** The end that a client has seen, as text. */
  end?: string
  endedAt?: number
  /** Whether its undo has ended. */
  isUndone?: boolean
  /** How often its handler and its undo have ended a replica. */
  readonly crashes: { handler: number, undo: number }
  /** How often an operator wanted it to run. */
  retries: number
  /** The last call of its handler. */
  run?: { readonly process: Process, readonly at: number, readonly losses: number, hasLeft?: boolean }
}

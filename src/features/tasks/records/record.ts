// The record of a task: its members, and what they say of its phase, its ends and its caller.

import type { Principal } from '../../../platform/access/principal.ts'
import type { KeptTokensByName } from '../../../request/pipeline/seams.ts'
import type { CompiledTool } from '../../../catalog/compiled/compiled-primitive.ts'
import type { Sender } from '../../../platform/limits/holder.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import type { Implementation } from '../../../platform/protocol/primitives.ts'
import { isTerminal, type TaskStatus } from '../../../platform/protocol/tasks.ts'
import type { OperationKind } from '../../../request/questions/input-round.ts'

/** A question to the client. If the answer does not fit, the handler asks again: that is another question. */
export interface TaskQuestion {
  /** The key in the handler's `ctx.ask`. */
  readonly key: string
  /** The input request, as JSON. */
  readonly json: string
  readonly isAnswered: boolean
}

export type OpenQuestions = ReadonlyArray<readonly [string, TaskQuestion]>

/** Texts of JSON, by key. */
type Texts = { readonly [key: string]: string }

/** A principal as JSON. */
export type KeptPrincipal = Omit<Principal, 'scopes'> & { readonly scopes: readonly string[] }

/** The members that never change. */
export interface TaskOrigin {
  readonly tool: string
  /** The scopes that the tool needed when the task began. A release that lacks the tool knows no others. */
  readonly toolScopes: readonly string[]
  /** The arguments as the client sent them. */
  readonly args: unknown
  /** What the client declared in its call. */
  readonly client: {
    readonly revision: string
    readonly capabilities: ClientCapabilities
    readonly info?: Implementation | undefined
    /** Whether nobody is there whom the client could ask, though it declares that. */
    readonly isUnattended?: true | undefined
  }
  /** What the client is asked though it has not declared it: its model passes the questions on. */
  readonly relayed?: ClientCapabilities | undefined
  /** The network of the anonymous caller that began the task: the task counts for its share. */
  readonly network?: string | undefined
  /** The id of the call in the service's log. */
  readonly requestId: string
  /** The id of the call's trace, if the call was traced. */
  readonly traceId?: string | undefined
  /** Milliseconds since the epoch, by the clock of the store. So are all times of a record. */
  readonly createdAt: number
  readonly ttlMs: number
  readonly keepResultMs: number
  readonly mayRerun: boolean
  /** Whether the tool undoes the work of a task that has ended without success. */
  readonly mayUndo: boolean
  /** The fingerprint of the tool's code when the task began. `undefined` if it was not known. */
  readonly fingerprint?: string | undefined
}

/** An operation that the handler came to. */
export interface JournalEntry {
  readonly kind: OperationKind
  readonly key: string
  /** The kind of a question, and the length of a long sleep without a key. Absent in earlier releases. */
  readonly form?: string
  /** The operations of a group ran beside each other. A run may come to them in any order. */
  readonly group: number
}

/** What a handler came to, and what came of it. */
export interface JournalRecord {
  readonly answers: Texts
  readonly results: Texts
  /**
   * The ends of the sleeps in milliseconds since the epoch, by their keys. 0: the sleep is over. Sleeps
   * without a key have numbers, from 0.
   */
  readonly sleeps: { readonly [key: string]: number }
  /** What the handler came to, in order. */
  readonly order: readonly JournalEntry[]
}

export interface TaskRecord extends TaskOrigin, JournalRecord {
  /**
   * How the record is to be read. Only a run raises it: during a deploy, a release that tells the status or
   * takes an answer leaves the record readable for the older release that runs the task.
   */
  readonly form: number
  /** The principal that was last allowed to see the task. The handler runs with its scopes. */
  readonly principal: KeptPrincipal
  /** How often the record was written. A due time of an earlier generation does not replace a later one. */
  readonly generation: number
  /** A random text that names the last write. A replica knows by it that its own write was done. */
  readonly mark: string
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  /** The latest progress that was told, a number that increases. A later run tells only what is beyond it. */
  readonly progress?: number | undefined
  readonly updatedAt: number
  /** The number of the latest run. Writes of earlier runs are refused. */
  readonly run: number
  /**
   * The number of the run, if its release adds the journal of the run to answers that came meanwhile. Earlier
   * releases write their journal in place of them.
   */
  readonly mergingRun?: number | undefined
  /** Whether a replica runs the handler, or its `undo`. */
  readonly isRunning: boolean
  /** When a later run began: `updatedAt` stays at the end of the task. */
  readonly claimedAt?: number | undefined
  /** Whether the handler of this run may have been called. */
  readonly isCalled: boolean
  /** How often in a row the replica of the task was lost without a new step. */
  readonly losses: number
  /** When the handler runs again, in milliseconds since the epoch. */
  readonly wakesAt?: number | undefined
  /** Why the task waits until then if its handler has not asked for it: `outage` is one of the store. */
  readonly pause?: 'loss' | 'limit' | 'outage' | undefined
  /** The questions so far, by the key that the client sees. */
  readonly questions: { readonly [key: string]: TaskQuestion }
  /** The caller's tokens for upstreams that say so. Dropped when the handler and its `undo` are over. */
  readonly upstreamTokens?: KeptTokensByName | undefined
  /** What became of the `undo` of an ended task. Absent if nothing is to be undone. */
  readonly undo?: 'due' | 'done' | 'failed' | undefined
  /** The journal of `undo`. */
  readonly undoJournal?: JournalRecord | undefined
  /** The error of a failed task, as JSON. */
  readonly error?: string | undefined
  /** The result of a completed task, as JSON. */
  readonly result?: string | undefined
}

/** How long before the end of its record `undo` must have ended, in milliseconds: its outcome is logged. */
const UNDO_MARGIN_MS = 60_000

/** Returns how long the record is kept, in milliseconds: the time limit, then the time for the result. */
export function lifetimeOf ({ ttlMs, keepResultMs }: Pick<TaskOrigin, 'ttlMs' | 'keepResultMs'>): number {
  return ttlMs + keepResultMs
}

/** Returns when the record expires, in milliseconds since the epoch. */
export function endOf (origin: TaskOrigin): number {
  return origin.createdAt + lifetimeOf(origin)
}

/** Returns when the time limit of the task has passed, in milliseconds since the epoch. */
function endOfWork ({ createdAt, ttlMs }: TaskOrigin): number {
  return createdAt + ttlMs
}

/** Returns when `undo` must have ended, in milliseconds since the epoch: before the record expires. */
export function endOfUndo (origin: TaskOrigin): number {
  return endOf(origin) - Math.min(UNDO_MARGIN_MS, origin.keepResultMs / 2)
}

/** Returns when the handler that runs now, or next, must have ended. */
export function endOfRun (record: TaskRecord): number {
  return record.undo === 'due' ? endOfUndo(record) : endOfWork(record)
}

/**
 * A replica runs the handler; the handler runs again at a time; a question is open, and the handler may run
 * again at a time too; the task has ended, and a replica runs its `undo`; or it has ended, and its `undo` is
 * over, or is due.
 */
export type TaskPhase = 'running' | 'waiting' | 'asking' | 'undoing' | 'over'

export function phaseOf ({ status, isRunning }: Pick<TaskRecord, 'status' | 'isRunning'>): TaskPhase {
  if (isTerminal(status)) return isRunning ? 'undoing' : 'over'
  if (isRunning) return 'running'
  return status === 'input_required' ? 'asking' : 'waiting'
}

/**
 * Whether the task counts for the limit of unfinished ones. A question that nobody has seen does not: the
 * client leaves one behind with each call.
 */
export function isCounted (record: TaskRecord): boolean {
  const phase = phaseOf(record)
  return phase === 'over' ? record.undo === 'due' : phase !== 'asking' || record.client.isUnattended !== true
}

/** Whether the handler has asked to run again at the time when it does. */
export function isAsleep ({ pause, wakesAt, sleeps, undo, undoJournal }: TaskRecord): boolean {
  const currentSleeps = undo === undefined ? sleeps : undoJournal?.sleeps ?? {}
  return pause === undefined && Object.values(currentSleeps).some((endsAt) => endsAt === wakesAt)
}

/** Compares what handlers and `authorize` see of a caller. Each token has its own times and id. */
export function hasSameRights (before: KeptPrincipal, now: KeptPrincipal): boolean {
  const [scopesBefore, scopes] = [new Set(before.scopes), new Set(now.scopes)]
  return scopesBefore.size === scopes.size && [...scopesBefore].every((scope) => scopes.has(scope)) &&
    claimsOf(before) === claimsOf(now)
}

function claimsOf ({ claims = {} }: KeptPrincipal): string {
  const { iat, exp, nbf, jti, ...identity } = claims
  return JSON.stringify(identity)
}

export function toKeptPrincipal (principal: Principal): KeptPrincipal {
  return { ...principal, scopes: [...principal.scopes] }
}

/** The caller that began the task, for limits and shares. */
export function toSender ({ principal, network }: TaskRecord): Sender {
  return {
    principal: { ...principal, scopes: new Set(principal.scopes) },
    // The name of an IPv6 network is its first address.
    address: network?.replace('/64', '')
  }
}

/**
 * Finds the tool of a task whose code has changed since the task began. `undefined` also if one of the two is
 * not known.
 */
export function findChangedTool (
  { tool, fingerprint }: Pick<TaskRecord, 'tool' | 'fingerprint'>, tools: readonly CompiledTool[]
): CompiledTool | undefined {
  if (fingerprint === undefined) return undefined
  const current = tools.find(({ key }) => key === tool)
  const now = current?.task?.fingerprint
  return now === undefined || now === fingerprint ? undefined : current
}

/** Returns the unanswered questions, with the keys that the client sees. */
export function openQuestions ({ questions }: Pick<TaskRecord, 'questions'>): OpenQuestions {
  return Object.entries(questions).filter(([, { isAnswered }]) => !isAnswered)
}

// Calls, as the page keeps them: the newest first, in the tab's storage too, so that a reload keeps them.

import { computed, signal } from '@preact/signals'
import type { Task } from '../../../../platform/protocol/tasks.ts'
import type { PageCaller } from '../connection/caller.ts'
import { isRecord, type JsonObject } from '../connection/json.ts'
import type { SentRequest } from '../connection/request.ts'
import { keepInTab, readOfTab } from '../connection/tab-storage.ts'

export interface CallProgress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface LogLine {
  readonly level: string
  readonly logger?: string | undefined
  readonly data: unknown
}

/** What happened to a call, and when, in milliseconds since its start. */
export interface Moment { readonly afterMs: number, readonly text: string }

export interface CallFailure {
  readonly message: string
  readonly code?: number | undefined
  readonly status?: number | undefined
  readonly data?: unknown
  /** The scopes that the service asks for. */
  readonly scopes?: readonly string[] | undefined
}

/** A question of the service, such as `elicitation/create`. */
export interface Asked { readonly method: string, readonly params: JsonObject }

/** Questions, and the answers of the person, by the same keys. */
export interface Answered {
  readonly questions: { readonly [key: string]: Asked }
  readonly responses: JsonObject
}

/** A task, as `tasks/get` shows it. */
export interface TaskView extends Task {
  readonly inputRequests?: { readonly [key: string]: Asked }
  readonly result?: JsonObject
  readonly error?: CallFailure
}

/**
 * `asking`: the service waits for answers. `task`: the call goes on as a task. `lost`: the page was closed
 * before the answer came.
 */
export type CallStatus = 'running' | 'asking' | 'task' | 'complete' | 'failed' | 'cancelled' | 'lost'

export type CallMethod = 'tools/call' | 'prompts/get' | 'resources/read'

export interface CallRecord {
  readonly id: number
  /** The primitive that was called. */
  readonly key: string
  readonly method: CallMethod
  readonly params: JsonObject
  readonly caller: PageCaller
  /** Whether a screen called, not the person. */
  readonly isOfScreen: boolean
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly durationMs?: number | undefined
  readonly status: CallStatus
  readonly progress?: CallProgress | undefined
  readonly log: readonly LogLine[]
  readonly moments: readonly Moment[]
  readonly sent?: SentRequest | undefined
  /** Present while the service asks. */
  readonly questions?: { readonly [key: string]: Asked } | undefined
  /** Present from an answer to the end of the call. */
  readonly answered?: Answered | undefined
  readonly requestState?: string | undefined
  readonly task?: TaskView | undefined
  readonly result?: JsonObject | undefined
  /** The length of the result as JSON, measured when the call ends. */
  readonly resultChars?: number | undefined
  /** Whether later results took the place of the result. */
  readonly isResultDropped?: boolean | undefined
  readonly failure?: CallFailure | undefined
}

/** The most calls of the person, and of screens. */
const MAX_CALLS = { person: 50, screens: 20 }
const MAX_LOG_LINES = 500
const MAX_MOMENTS = 200
/** The most characters of JSON that the results of all calls take in memory. */
export const MAX_RESULT_CHARS = 50_000_000
/** The most characters of JSON that calls take in the tab's storage. */
const MAX_KEPT_CHARS = 1_000_000
const MAX_ONE_KEPT = MAX_KEPT_CHARS / 4

export const calls = signal<readonly CallRecord[]>(readCalls(readOfTab('calls')))

export const shownCallId = signal<number | undefined>(calls.value[0]?.id)

export const shownCall = computed(() => calls.value.find(({ id }) => id === shownCallId.value))

type NewCall = Pick<CallRecord, 'key' | 'method' | 'params' | 'caller' | 'isOfScreen'>

/** Adds a call that begins now. Returns its id. */
export function addCall (call: NewCall): number {
  const id = Math.max(0, ...calls.value.map((call) => call.id)) + 1
  const record: CallRecord = { ...call, id, startedAt: Date.now(), status: 'running', log: [], moments: [] }
  calls.value = withoutOldest([record, ...calls.value])
  return id
}

/** Drops the oldest calls that have ended and are not shown. Calls of screens are counted by themselves. */
function withoutOldest (newestFirst: readonly CallRecord[]): readonly CallRecord[] {
  const left = { ...MAX_CALLS }
  return newestFirst.filter((call) => {
    const room = left[call.isOfScreen ? 'screens' : 'person']--
    return room > 0 || isOpen(call) || call.id === shownCallId.value
  })
}

export function callOf (id: number): CallRecord | undefined {
  return calls.value.find((call) => call.id === id)
}

/** Changes a call, if it is still kept. */
export function updateCall (id: number, change: Partial<CallRecord>): void {
  calls.value = calls.value.map((call) => call.id === id ? { ...call, ...change } : call)
  if (change.status !== undefined) keepCalls()
}

/** Gives a call its result. Drops the oldest results of other calls that no longer fit. */
export function addResult (id: number, result: JsonObject): void {
  updateCall(id, { result, resultChars: JSON.stringify(result).length })
  let room = MAX_RESULT_CHARS - (callOf(id)?.resultChars ?? 0)
  calls.value = calls.value.map((call) => {
    if (call.id === id || call.result === undefined) return call
    room -= call.resultChars ?? 0
    return room >= 0 || call.id === shownCallId.value
      ? call
      : { ...call, result: undefined, isResultDropped: true }
  })
}

export function addLogLine (id: number, line: LogLine): void {
  const { log = [] } = callOf(id) ?? {}
  updateCall(id, { log: [...log, line].slice(-MAX_LOG_LINES) })
}

/** Adds a moment, unless the last one has the same text. */
export function addMoment (id: number, text: string): void {
  const call = callOf(id)
  if (call === undefined || call.moments.at(-1)?.text === text) return
  const moment = { afterMs: Date.now() - call.startedAt, text }
  updateCall(id, { moments: [...call.moments, moment].slice(-MAX_MOMENTS) })
}

export function forgetCalls (): void {
  calls.value = calls.value.filter(isOpen)
  keepCalls()
}

/** Returns the scopes that the data of a refusal names. */
export function requiredScopesOf ({ data }: CallFailure): readonly string[] | undefined {
  return isRecord(data) && Array.isArray(data.requiredScopes) ? data.requiredScopes.map(String) : undefined
}

export function isOpen ({ status }: CallRecord): boolean {
  return status === 'running' || status === 'asking' || status === 'task'
}

interface CallInTab { readonly call: CallRecord, readonly chars: number }

/** A record never changes: it is measured once. */
const keptCalls = new WeakMap<CallRecord, CallInTab>()

/** Keeps the newest calls that fit. */
function keepCalls (): void {
  let room = MAX_KEPT_CHARS
  const records: CallRecord[] = []
  for (const { call, chars } of calls.value.map(toKeptCall)) {
    if (chars > room) continue
    room -= chars
    records.push(call)
  }
  keepInTab('calls', records)
}

/** A call that is too large alone is kept without its result, and then without its log. */
function toKeptCall (record: CallRecord): CallInTab {
  const before = keptCalls.get(record)
  if (before !== undefined) return before
  const { resultChars = 0 } = record
  const saved = withoutToken(record)
  const call = resultChars > MAX_ONE_KEPT ? { ...saved, result: undefined } : saved
  const chars = JSON.stringify(call).length
  const small = { ...call, result: undefined, log: [], task: undefined }
  const entry = chars <= MAX_ONE_KEPT ? { call, chars } : { call: small, chars: JSON.stringify(small).length }
  keptCalls.set(record, entry)
  return entry
}

/** The storage of a tab is no place for a token. */
function withoutToken (call: CallRecord): CallRecord {
  if (call.sent?.headers.authorization === undefined) return call
  const { authorization, ...headers } = call.sent.headers
  return { ...call, sent: { ...call.sent, headers } }
}

/** A call that was open when the page was closed is lost, unless it is a task. */
function readCalls (stored: unknown): readonly CallRecord[] {
  if (!Array.isArray(stored)) return []
  return stored.filter(isKept).map((call) => isOpen(call) && call.task === undefined
    ? { ...call, status: 'lost', questions: undefined }
    : call)
}

function isKept (stored: unknown): stored is CallRecord {
  return isRecord(stored) && typeof stored.id === 'number' && typeof stored.key === 'string' &&
    isRecord(stored.params) && isRecord(stored.caller) && Array.isArray(stored.log) &&
    Array.isArray(stored.moments)
}

// Runs a call to its end: through questions, which the person answers, and as a task.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/multi-round-trip

import { isTerminal } from '../../../../platform/protocol/tasks.ts'
import { caller, logLevel, type PageCaller } from '../connection/caller.ts'
import { describeFailure, isRecord, toTextOrNothing, type JsonObject } from '../connection/json.ts'
import { request, RequestFailure, type ServiceNotification } from '../connection/request.ts'
import { entryByKey } from '../lists/catalog.ts'
import {
  addCall, addLogLine, addMoment, addResult, callOf, calls, isOpen, shownCallId, updateCall,
  type Asked, type CallFailure, type CallMethod, type CallRecord, type TaskView
} from './call-record.ts'
import { findIds, rememberIds } from './remembered.ts'

export interface CallStart {
  readonly key: string
  readonly method: CallMethod
  readonly params: JsonObject
}

/** What ends the request of a call, by its id. */
const aborts = new Map<number, AbortController>()

/** A service may end a round without a question, to go on with the next. */
const MAX_EMPTY_ROUNDS = 20

/** Begins a call as the present caller, and shows it. Returns its id. */
export function startCall ({ key, method, params }: CallStart, asCaller: PageCaller = caller.value): number {
  const id = addCall({ key, method, params, caller: asCaller, isOfScreen: false })
  shownCallId.value = id
  runRound(id, {})
  return id
}

/** Called at the end of a call. `undefined` if the page no longer keeps the call. */
const onEnds = new Map<number, (call: CallRecord | undefined) => void>()

const MAX_OPEN_SCREEN_CALLS = 20

/**
 * Runs a call of a screen, which stays shown. Resolves to the call when it has ended. Rejects if too many
 * calls of screens are open.
 */
export async function runScreenCall (
  { key, method, params }: CallStart, asCaller: PageCaller, onId: (id: number) => void
): Promise<CallRecord | undefined> {
  if (calls.value.filter((call) => call.isOfScreen && isOpen(call)).length >= MAX_OPEN_SCREEN_CALLS) {
    throw new RequestFailure(`Screens have ${MAX_OPEN_SCREEN_CALLS} open calls. Wait for an answer, or end ` +
      'one in "Last calls".', 0, { code: -32600 })
  }
  const id = addCall({ key, method, params, caller: asCaller, isOfScreen: true })
  onId(id)
  return await new Promise((resolve) => {
    onEnds.set(id, resolve)
    runRound(id, {})
  })
}

/** The tasks whose answers are on their way. */
const answering = new Set<number>()

/** Answers the questions of a call, by their keys. */
export async function answerCall (id: number, inputResponses: JsonObject): Promise<void> {
  const call = callOf(id)
  if (call === undefined) return
  updateCall(id, { answered: { questions: call.questions ?? {}, responses: inputResponses } })
  addMoment(id, `answered ${Object.keys(inputResponses).join(', ')}`)
  if (call.task === undefined) {
    const { requestState } = call
    await runRound(id, { inputResponses, ...requestState !== undefined && { requestState } })
    return
  }
  answering.add(id)
  try {
    updateCall(id, { questions: undefined })
    await sendForTask(id, 'tasks/update', { inputResponses })
  } catch (error) {
    fail(id, error)
  } finally {
    answering.delete(id)
    lookSoon.get(id)?.()
  }
}

export async function cancelCall (id: number): Promise<void> {
  const call = callOf(id)
  if (call === undefined) return
  if (call.task !== undefined) {
    addMoment(id, 'asked to cancel')
    await sendForTask(id, 'tasks/cancel', {}).catch((error: unknown) => fail(id, error))
    lookSoon.get(id)?.()
    return
  }
  // The end of the connection cancels the request.
  aborts.get(id)?.abort()
  end(id, 'cancelled')
}

/** Follows the tasks that ran when the page was closed. */
export function followKeptTasks (): void {
  for (const { id, status, task } of calls.value) {
    if ((status === 'task' || status === 'asking') && task !== undefined) followTask(id, task)
  }
}

async function runRound (id: number, answers: JsonObject, emptyRounds = 0): Promise<void> {
  const call = callOf(id)
  if (call === undefined) return settle(id, undefined)
  const abort = new AbortController()
  aborts.set(id, abort)
  updateCall(id, { status: 'running', questions: undefined, requestState: undefined })
  const primitive = entryByKey.value.get(call.key)?.primitive
  try {
    const result = await request<JsonObject>(call.method, { ...call.params, ...answers }, {
      caller: call.caller,
      logLevel: logLevel.value,
      signal: abort.signal,
      inputSchema: primitive?.kind === 'tool' ? primitive.tool.inputSchema : undefined,
      onSent: (request) => updateCall(id, { sent: request }),
      onNotification: (notification) => hear(id, notification)
    })
    if (!abort.signal.aborted) await takeResult(id, result, emptyRounds)
  } catch (error) {
    if (!abort.signal.aborted) fail(id, error)
  } finally {
    if (aborts.get(id) === abort) aborts.delete(id)
  }
}

async function takeResult (id: number, result: JsonObject, emptyRounds: number): Promise<void> {
  if (isTask(result)) {
    addMoment(id, 'became a task')
    await followTask(id, result)
  } else if (result.resultType === 'input_required') {
    const questions = toQuestions(result.inputRequests)
    const requestState = toTextOrNothing(result.requestState)
    const names = Object.keys(questions)
    if (names.length === 0 && emptyRounds < MAX_EMPTY_ROUNDS) {
      await runRound(id, { requestState }, emptyRounds + 1)
      return
    }
    addMoment(id, `asked ${names.join(', ')}`)
    updateCall(id, { status: 'asking', questions, requestState })
  } else complete(id, result)
}

function isTask (result: JsonObject): result is JsonObject & TaskView {
  const { resultType, taskId, status } = result
  return resultType === 'task' && typeof taskId === 'string' && typeof status === 'string'
}

function toQuestions (requests: unknown): { readonly [key: string]: Asked } {
  if (!isRecord(requests)) return {}
  return Object.fromEntries(Object.entries(requests).flatMap(([key, request]) => isRecord(request)
    ? [[key, { method: String(request.method), params: isRecord(request.params) ? request.params : {} }]]
    : []))
}

function complete (id: number, result: JsonObject): void {
  rememberIds(findIds(result.structuredContent))
  addResult(id, result)
  end(id, 'complete')
}

function fail (id: number, error: unknown): void {
  const { code, status, data, scopes } = error instanceof RequestFailure ? error : {}
  const failure: CallFailure = { message: describeFailure(error), code, status, data, scopes }
  updateCall(id, { failure })
  end(id, 'failed')
}

function end (id: number, status: 'complete' | 'failed' | 'cancelled'): void {
  const call = callOf(id)
  if (call === undefined) return settle(id, undefined)
  if (call.moments.length > 0 && call.task === undefined) addMoment(id, status)
  const durationMs = Date.now() - call.startedAt
  const outcome = { status, questions: undefined, answered: undefined, durationMs }
  updateCall(id, outcome)
  settle(id, { ...call, ...outcome })
}

function settle (id: number, call: CallRecord | undefined): void {
  onEnds.get(id)?.(call)
  onEnds.delete(id)
}

function hear (id: number, { method, params }: ServiceNotification): void {
  if (method === 'notifications/progress') {
    const { progress, total, message } = params
    updateCall(id, {
      progress: {
        progress: Number(progress),
        total: typeof total === 'number' ? total : undefined,
        message: toTextOrNothing(message)
      }
    })
  } else if (method === 'notifications/message') {
    const { level, logger, data } = params
    addLogLine(id, { level: String(level), logger: toTextOrNothing(logger), data })
  }
}

const DEFAULT_POLL_MS = 1000
const ANSWER_POLL_MS = 100
const MAX_LOST_POLLS = 10

/** Looks again if an answer went out meanwhile: the task that was seen may still ask. */
async function lookAtTask (id: number): Promise<TaskView> {
  for (;;) {
    const before = callOf(id)?.answered
    const wasAnswering = answering.has(id)
    const task = await sendForTask<TaskView>(id, 'tasks/get', {})
    if (!wasAnswering && callOf(id)?.answered === before) return task
    await new Promise((resolve) => setTimeout(resolve, ANSWER_POLL_MS))
  }
}

/** Ends the wait for the next look at a task, by the id of its call. */
const lookSoon = new Map<number, () => void>()

async function waitToLook (id: number, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    lookSoon.set(id, resolve)
    setTimeout(resolve, ms)
  })
  lookSoon.delete(id)
}

/** Looks at the task at its own interval and after each change of the person, until it has ended. */
async function followTask (id: number, first: TaskView): Promise<void> {
  let task = first
  let lost = 0
  for (;;) {
    showTask(id, task)
    if (isTerminal(task.status)) return endTask(id, task)
    await waitToLook(id, task.pollIntervalMs ?? DEFAULT_POLL_MS)
    if (callOf(id) === undefined) return settle(id, undefined)
    try {
      task = await lookAtTask(id)
      lost = 0
    } catch (error) {
      // The service may be starting again: only its own refusal ends the look.
      if (error instanceof RequestFailure || ++lost > MAX_LOST_POLLS) return fail(id, error)
    }
  }
}

/** The call has the result: it is not kept twice. */
function showTask (id: number, { result, ...task }: TaskView): void {
  const questions = task.status === 'input_required' ? toQuestions(task.inputRequests) : undefined
  const names = Object.keys(questions ?? {}).join(', ')
  const message = task.statusMessage === undefined ? '' : `: ${task.statusMessage}`
  addMoment(id, `${task.status}${message}${names === '' ? '' : ` (${names})`}`)
  const before = callOf(id)?.questions
  // A form that is being filled in stays the same.
  const isSameForm = JSON.stringify(before) === JSON.stringify(questions)
  const status = questions === undefined ? 'task' : 'asking'
  updateCall(id, {
    task, ...callOf(id)?.status !== status && { status }, ...!isSameForm && { questions }
  })
}

function endTask (id: number, { status, result, error }: TaskView): void {
  if (result !== undefined) complete(id, result)
  else if (error !== undefined) {
    updateCall(id, { failure: error })
    end(id, 'failed')
  } else end(id, status === 'cancelled' ? 'cancelled' : 'failed')
}

async function sendForTask<T> (id: number, method: string, params: JsonObject): Promise<T> {
  const call = callOf(id)
  if (call?.task === undefined) throw new Error('The page no longer keeps this call.')
  return await request<T>(method, { taskId: call.task.taskId, ...params }, { caller: call.caller })
}

// The answers of requests that wait for a call.

import { errorResult, isErrorJson, textResult } from '../../../catalog/compiled/results/tool-result-json.ts'
import {
  EarlierFailure, MISSING_CLIENT_CAPABILITY, ProtocolError
} from '../../../platform/protocol/errors.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import { cancelledText, goesOnText, questionsText, unreadText, type CallQuestion } from './texts.ts'
import type { TaskRecord } from '../records/record.ts'
import { toTaskSeed } from '../records/task-json.ts'

/** Returns the result of an ended task as its call would have. Throws its error. */
export function toCallResult (request: RequestContext, record: TaskRecord): string {
  const { status, result = '', error, tool } = record
  const { observed, writer } = request
  if (error !== undefined) throw toOwnError(request, fromErrorJson(error))
  observed.isToolError = status === 'cancelled' || isErrorJson(result)
  return status === 'cancelled' ? errorResult(writer, cancelledText(tool)) : writer.fromCurrent(result)
}

/** Says that a call goes on. @param call the id of its task, or what the model wrote. */
export function toGoesOnResult (
  request: RequestContext, call: string, { tool, statusMessage }: Pick<TaskRecord, 'tool' | 'statusMessage'>,
  isError: boolean
): string {
  request.observed.special = 'goes_on'
  return toModelResult(request, goesOnText(tool, call, statusMessage, isError), isError)
}

/** Says how to continue a call whose record cannot be read. @param call as above. */
export function toUnreadResult (
  request: RequestContext, call: string, tool: string, isError: boolean
): string {
  request.observed.special = 'goes_on'
  return toModelResult(request, unreadText(tool, call, isError), isError)
}

/** Returns the open questions of a call, for the model to pass on. */
export function toRelayedResult (
  request: RequestContext, call: string, tool: string, questions: readonly CallQuestion[], isError: boolean
): string {
  request.observed.special = 'relayed'
  // A model that skips the text must not take it for the result: it is marked as an error.
  const isStuck = questions.some(({ way }) => way === 'none')
  return toModelResult(request, questionsText(tool, call, questions), isError || isStuck)
}

/** Returns a CreateTaskResult. @param now by the clock of the store. */
export function toTaskResult (
  { observed, writer }: RequestContext, id: string, record: TaskRecord, now: number
): string {
  observed.special = 'task'
  return writer.writeTask(toTaskSeed(id, record, now))
}

/** @param isError clients refuse a text of a tool with an output schema, unless it is an error. */
function toModelResult ({ writer }: RequestContext, text: string, isError: boolean): string {
  return isError ? errorResult(writer, text) : textResult(writer, text)
}

/** Returns the error as the revision of the request has it. */
export function toOwnError (request: RequestContext, error: unknown): unknown {
  if (!(error instanceof ProtocolError) || error.code !== MISSING_CLIENT_CAPABILITY) return error
  const { data } = error
  const missing = isObject(data) && isObject(data.requiredCapabilities) ? data.requiredCapabilities : {}
  return request.toMissingCapability(missing)
}

function fromErrorJson (json: string): EarlierFailure {
  const { code, message, data }: { code: number, message: string, data?: unknown } = JSON.parse(json)
  return new EarlierFailure(code, message, { data })
}

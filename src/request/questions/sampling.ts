// Questions for the client's model.
// https://modelcontextprotocol.io/specification/2026-07-28/client/sampling

import type { CapabilitySettings } from '../../protocol/capabilities.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import { findJsonProblem } from './json-problem.ts'
import { toUnchangedAnswer, toRequestJson, type ReportQuestionProblem, type ToQuestion } from './question.ts'
import { sampleParamsShape, sampleResultShape } from './sampling-shapes.ts'

export const toSampleQuestion: ToQuestion = (params, report) => {
  const verdict = sampleParamsShape(params)
  const notJson = findJsonProblem(params, 'it')
  if (!verdict.ok) for (const problem of verdict.problems) report(problem)
  else if (notJson !== undefined) report(`must be JSON, but ${notJson}`)
  else if (Array.isArray(params.messages)) checkToolLoop(params.messages, report)
  if (!verdict.ok || notJson !== undefined) return undefined
  return {
    json: toRequestJson('sampling/createMessage', params),
    requiredCapabilities: { sampling: samplingCapabilityOf(params) },
    read (response) {
      if (!sampleResultShape(response).ok || !isObject(response)) return undefined
      // A response that is nested too deeply could not travel to the next round.
      if (findJsonProblem(response, '') !== undefined) return undefined
      const { role, content, model, stopReason } = response
      return toUnchangedAnswer({ role, content, model, ...(stopReason === undefined ? {} : { stopReason }) })
    }
  }
}

function samplingCapabilityOf (
  { tools, toolChoice, includeContext = 'none' }: { readonly [key: string]: unknown }
): CapabilitySettings {
  return {
    ...(tools === undefined && toolChoice === undefined ? {} : { tools: {} }),
    ...(includeContext === 'none' ? {} : { context: {} })
  }
}

/**
 * The message after tool uses must be a user message that has the results of exactly these uses, and nothing
 * else.
 */
function checkToolLoop (messages: readonly unknown[], report: ReportQuestionProblem): void {
  let used: readonly unknown[] = []
  for (const [index, message] of messages.entries()) {
    const { role, content } = isObject(message) ? message : {}
    const blocks = [content].flat().filter(isObject)
    const results = blocks.filter(({ type }) => type === 'tool_result').map(({ toolUseId }) => toolUseId)
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      report(`messages[${index}]: tool results are a user message of their own, with nothing else in it`)
    }
    if (!isSameSet(used, results)) {
      const ids = `${toIdList(used)}, got ${toIdList(results)}`
      report(`messages[${index}]: must hold the results of the tool uses before it, ${ids}`)
    }
    used = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    if (used.length > 0 && role !== 'assistant') report(`messages[${index}]: only the assistant uses tools`)
  }
  if (used.length > 0) report(`messages: end with the tool uses ${toIdList(used)}; their results must follow`)
}

function isSameSet (a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member)) &&
    b.every((member) => a.includes(member))
}

function toIdList (ids: readonly unknown[]): string {
  return ids.length === 0 ? 'none' : ids.map((id) => JSON.stringify(id)).join(', ')
}

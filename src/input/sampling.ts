// Questions for the client's model.
// https://modelcontextprotocol.io/specification/2026-07-28/client/sampling

import type { Settings } from '../protocol/capabilities.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { findJsonFault } from './json-fault.ts'
import { plainAnswer, toRequestJson, type Complain, type ToQuestion } from './question.ts'
import { sampleParamsShape, sampleResultShape } from './sampling-shapes.ts'

export const toSampleQuestion: ToQuestion = (params, complain) => {
  const verdict = sampleParamsShape(params)
  const notJson = findJsonFault(params, 'it')
  if (!verdict.ok) for (const problem of verdict.problems) complain(problem)
  else if (notJson !== undefined) complain(`must be JSON, but ${notJson}`)
  else if (Array.isArray(params.messages)) checkToolLoop(params.messages, complain)
  if (!verdict.ok || notJson !== undefined) return undefined
  return {
    json: toRequestJson('sampling/createMessage', params),
    needs: { sampling: needsOf(params) },
    read (response) {
      // What nests without end could be read, but never be carried to another round.
      if (!sampleResultShape(response).ok || !isObject(response) || findJsonFault(response, '') !== undefined) return undefined
      const { role, content, model, stopReason } = response
      return plainAnswer({ role, content, model, ...(stopReason === undefined ? {} : { stopReason }) })
    }
  }
}

function needsOf ({ tools, toolChoice, includeContext = 'none' }: { readonly [key: string]: unknown }): Settings {
  return {
    ...(tools === undefined && toolChoice === undefined ? {} : { tools: {} }),
    ...(includeContext === 'none' ? {} : { context: {} })
  }
}

/** Each use of a tool is answered at once: by the next message, the user's, which holds the results of these uses and nothing else. */
function checkToolLoop (messages: readonly unknown[], complain: Complain): void {
  let used: readonly unknown[] = []
  for (const [index, message] of messages.entries()) {
    const { role, content } = isObject(message) ? message : {}
    const blocks = [content].flat().filter(isObject)
    const results = blocks.filter(({ type }) => type === 'tool_result').map(({ toolUseId }) => toolUseId)
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) complain(`messages[${index}]: tool results are a user message of their own, with nothing else in it`)
    if (!isSameSet(used, results)) complain(`messages[${index}]: must hold the results of the tool uses before it, ${list(used)}, got ${list(results)}`)
    used = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    if (used.length > 0 && role !== 'assistant') complain(`messages[${index}]: only the assistant uses tools`)
  }
  if (used.length > 0) complain(`messages: end with the tool uses ${list(used)}; their results must follow`)
}

function isSameSet (a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member)) && b.every((member) => a.includes(member))
}

function list (ids: readonly unknown[]): string {
  return ids.length === 0 ? 'none' : ids.map((id) => JSON.stringify(id)).join(', ')
}

// Questions for the client's model: their shapes, and those of the responses.
// https://modelcontextprotocol.io/specification/2026-07-28/client/sampling

import type { CapabilitySettings } from '../../platform/protocol/capabilities.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { checkOf } from '../../platform/schema/reader.ts'
import { Type } from '../../platform/schema/type.ts'
import {
  findJsonProblem, type ReportQuestionProblem, type ToQuestion, toRequestJson, toUnchangedAnswer
} from './question.ts'

const record = Type.Record(Type.Unknown())
const text = Type.Optional(Type.String())
const priority = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }))
const role = Type.Enum(['user', 'assistant'])

const block = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Enum(['image', 'audio']), data: Type.String(), mimeType: Type.String() }),
  Type.Object({ type: Type.Literal('tool_use'), id: Type.String(), name: Type.String(), input: record }),
  Type.Object({ type: Type.Literal('tool_result'), toolUseId: Type.String(), content: Type.Array(record) })
])
const content = Type.Union([block, Type.Array(block)])

const sampleParamsShape = checkOf(Type.Object({
  messages: Type.Array(Type.Object({ role, content, _meta: Type.Optional(record) }), { minItems: 1 }),
  maxTokens: Type.Integer({ minimum: 1 }),
  systemPrompt: text,
  temperature: Type.Optional(Type.Number()),
  stopSequences: Type.Optional(Type.Array(Type.String())),
  modelPreferences: Type.Optional(Type.Object({
    hints: Type.Optional(Type.Array(Type.Object({ name: text }))),
    costPriority: priority,
    speedPriority: priority,
    intelligencePriority: priority
  })),
  includeContext: Type.Optional(Type.Enum(['none', 'thisServer', 'allServers'])),
  tools: Type.Optional(
    Type.Array(
      Type.Object({ name: Type.String(), inputSchema: Type.Object({ type: Type.Literal('object') }) })
    )
  ),
  toolChoice: Type.Optional(Type.Object({ mode: Type.Optional(Type.Enum(['auto', 'required', 'none'])) })),
  metadata: Type.Optional(record)
}, { additionalProperties: false }))

const sampleResultShape = checkOf(
  Type.Object({ role, content, model: Type.String(), stopReason: text })
)

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

/** Checks that tool uses are followed by a user message with exactly their results, and nothing else. */
function checkToolLoop (messages: readonly unknown[], report: ReportQuestionProblem): void {
  let toolUses: readonly unknown[] = []
  for (const [index, message] of messages.entries()) {
    const { role, content } = isObject(message) ? message : {}
    const blocks = [content].flat().filter(isObject)
    const results = blocks.filter(({ type }) => type === 'tool_result').map(({ toolUseId }) => toolUseId)
    if (results.length > 0 && (role !== 'user' || results.length < blocks.length)) {
      report(`messages[${index}]: tool results are a user message of their own, with nothing else in it`)
    }
    if (!isSameSet(toolUses, results)) {
      const ids = `${toIdList(toolUses)}, got ${toIdList(results)}`
      report(`messages[${index}]: must hold the results of the tool uses before it, ${ids}`)
    }
    toolUses = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    if (toolUses.length > 0 && role !== 'assistant') {
      report(`messages[${index}]: only the assistant uses tools`)
    }
  }
  if (toolUses.length > 0) {
    report(`messages: end with the tool uses ${toIdList(toolUses)}; their results must follow`)
  }
}

function isSameSet (a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((member) => b.includes(member)) &&
    b.every((member) => a.includes(member))
}

function toIdList (ids: readonly unknown[]): string {
  return ids.length === 0 ? 'none' : ids.map((id) => JSON.stringify(id)).join(', ')
}

// Checks of the questions to a client's model, and of the responses of clients.
// https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams

import { checkOf } from '../../schema/reader.ts'
import { Type } from '../../schema/type.ts'

const anything = Type.Record(Type.Unknown())
const text = Type.Optional(Type.String())
const priority = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }))
const role = Type.Enum(['user', 'assistant'])

const block = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Enum(['image', 'audio']), data: Type.String(), mimeType: Type.String() }),
  Type.Object({ type: Type.Literal('tool_use'), id: Type.String(), name: Type.String(), input: anything }),
  Type.Object({ type: Type.Literal('tool_result'), toolUseId: Type.String(), content: Type.Array(anything) })
])
const content = Type.Union([block, Type.Array(block)])

export const sampleParamsShape = checkOf(Type.Object({
  messages: Type.Array(Type.Object({ role, content, _meta: Type.Optional(anything) }), { minItems: 1 }),
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
  metadata: Type.Optional(anything)
}, { additionalProperties: false }))

export const sampleResultShape = checkOf(
  Type.Object({ role, content, model: Type.String(), stopReason: text })
)

export const rootsResultShape = checkOf(Type.Object({
  roots: Type.Array(Type.Object({ uri: Type.String({ pattern: '^file://' }), name: text }))
}))

// The shapes of the contents that handlers return. content-checks.ts checks the values in them.

import { checkOfOutput } from '../../../schema/reader.ts'
import { Type } from '../../../schema/type.ts'
import { dateText } from '../definitions/definition-shapes.ts'

const meta = { _meta: Type.Optional(Type.Record(Type.Unknown())) }
const annotations = Type.Object({
  audience: Type.Optional(Type.Array(Type.Enum(['user', 'assistant']))),
  priority: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  lastModified: Type.Optional(dateText)
})
const block = { ...meta, annotations: Type.Optional(annotations) }
const text = Type.String()
const mimeType = Type.Optional(text)

const textContents = Type.Object({ uri: text, mimeType, text, ...meta })
const embedded = Type.Union([textContents, Type.Object({ uri: text, mimeType, blob: text, ...meta })])
// A `blob` is base64 or bytes.
const readable = Type.Union([
  textContents, Type.Object({ uri: text, mimeType, blob: Type.Unknown(), ...meta })
])

const contentBlock = Type.Union([
  Type.Object({ type: Type.Literal('text'), text, ...block }),
  Type.Object({ type: Type.Literal('image'), data: text, mimeType: text, ...block }),
  Type.Object({ type: Type.Literal('audio'), data: text, mimeType: text, ...block }),
  Type.Object({ type: Type.Literal('resource_link'), uri: text, name: text, mimeType, ...block }),
  Type.Object({ type: Type.Literal('resource'), resource: embedded, ...block })
])

const message = Type.Object({ role: Type.Enum(['user', 'assistant']), content: contentBlock })

export const contentBlocksShape = checkOfOutput(Type.Array(contentBlock))
export const messagesShape = checkOfOutput(Type.Array(message))
export const resourceContentsShape = checkOfOutput(Type.Array(readable, { minItems: 1 }))

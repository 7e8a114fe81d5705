// Checks of the contents that handlers return. The service refuses malformed contents: a client that
// validates must not be the first to notice them.

import { Type } from 'typebox'
import { checkOf } from '../schema/reader.ts'
import { annotations } from './definition-shapes.ts'

// One character class: V8 then matches a text of any length without growing its stack.
const BASE64 = '^[A-Za-z0-9+/]*={0,2}$'

const meta = { _meta: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }
const block = { ...meta, annotations: Type.Optional(annotations) }
const uri = Type.String({ format: 'uri' })
const mimeType = Type.Optional(Type.String())

const contents = Type.Union([
  Type.Object({ uri, mimeType, text: Type.String(), ...meta }),
  Type.Object({ uri, mimeType, blob: Type.String({ pattern: BASE64 }), ...meta })
])

const contentBlock = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String(), ...block }),
  Type.Object({
    type: Type.Literal('image'), data: Type.String({ pattern: BASE64 }), mimeType: Type.String(), ...block
  }),
  Type.Object({
    type: Type.Literal('audio'), data: Type.String({ pattern: BASE64 }), mimeType: Type.String(), ...block
  }),
  Type.Object({ type: Type.Literal('resource_link'), uri, name: Type.String(), mimeType, ...block }),
  Type.Object({ type: Type.Literal('resource'), resource: contents, ...block })
])

const message = Type.Object({ role: Type.Enum(['user', 'assistant']), content: contentBlock })

export const contentBlocksShape = checkOf(Type.Array(contentBlock))
export const messagesShape = checkOf(Type.Array(message))
export const resourceContentsShape = checkOf(Type.Array(contents, { minItems: 1 }))

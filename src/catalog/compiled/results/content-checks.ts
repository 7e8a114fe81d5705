// Checks the contents that handlers return, and completes them. The service refuses malformed contents: a
// client that validates must not be the first to notice them.

import type { OutputContents } from '../../../platform/author/define-resource.ts'
import { BYTES_TYPE, isMediaType, TEXT_TYPE } from '../../../base/media-types.ts'
import { isBase64, toBase64 } from '../../../platform/protocol/base64.ts'
import type {
  ContentBlock, Meta, PromptMessage, ResourceContents
} from '../../../platform/protocol/content.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { findJsonLoss, isPlainJson } from '../../../platform/schema/json-form.ts'
import type { JsonSchemaCheck } from '../../../platform/schema/json-schema.ts'
import { checkOfOutput } from '../../../platform/schema/reader.ts'
import { Type } from '../../../platform/schema/type.ts'
import { annotationMembers } from '../definitions/definition-shapes.ts'
import { toUri } from '../resources/uri.ts'
import { ContractError } from './result-json.ts'

const meta = { _meta: Type.Optional(Type.Record(Type.Unknown())) }
const block = { ...meta, annotations: Type.Optional(Type.Object(annotationMembers)) }
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

const contentBlocksShape = checkOfOutput(Type.Array(contentBlock))
const messagesShape = checkOfOutput(Type.Array(message))
const resourceContentsShape = checkOfOutput(Type.Array(readable, { minItems: 1 }))

/** Whether the value is a list of blocks. Their data is not looked at. */
export function isContent (value: unknown): value is readonly ContentBlock[] {
  return Array.isArray(value) && contentBlocksShape(value).ok
}

/** Throws a ContractError when a block is malformed. */
export function checkContent (blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  checkShape(contentBlocksShape, blocks, 'the result has malformed content:')
  return blocks.map((block, index) => checkBlock(block, `content[${index}]`))
}

/** Throws a ContractError when a message is malformed. */
export function checkMessages (messages: readonly PromptMessage[]): readonly PromptMessage[] {
  checkShape(messagesShape, messages, 'the prompt has malformed messages:')
  return messages.map((message, index) => {
    return { ...message, content: checkBlock(message.content, `messages[${index}].content`) }
  })
}

/** Bytes become base64. Throws a ContractError when the contents are malformed. */
export function checkContents (contents: readonly OutputContents[]): readonly ResourceContents[] {
  checkShape(resourceContentsShape, contents, 'the resource has malformed contents:')
  return contents.map((part, index) => {
    const place = `contents[${index}]`
    assertMetaIsJson(part._meta, `${place}._meta`)
    if (!('blob' in part)) return checkTypeAndUri(part, place)
    const { blob } = part
    if (blob instanceof Uint8Array) return checkTypeAndUri({ ...part, blob: toBase64(blob) }, place)
    assertBase64(blob, `${place}.blob`)
    return checkTypeAndUri({ ...part, blob }, place)
  })
}

/** Throws a ContractError when the `_meta` of a result is not an object, or JSON would lose a part of it. */
export function checkMeta (meta: unknown): Meta | undefined {
  if (meta === undefined) return undefined
  if (!isObject(meta)) throw new ContractError('_meta', ['must be an object'])
  assertMetaIsJson(meta, '_meta')
  return meta
}

function assertMetaIsJson (meta: Meta | undefined, place: string): void {
  if (meta === undefined || isPlainJson(meta)) return
  const loss = findJsonLoss(meta)
  if (loss !== undefined) throw new ContractError(`${place}:`, [loss])
}

function checkShape (check: JsonSchemaCheck, value: unknown, subject: string): void {
  const verdict = check(value)
  if (!verdict.ok) throw new ContractError(subject, verdict.problems)
}

function checkBlock (block: ContentBlock, place: string): ContentBlock {
  assertMetaIsJson(block._meta, `${place}._meta`)
  switch (block.type) {
    case 'text': return block
    case 'image':
    case 'audio':
      assertBase64(block.data, `${place}.data`)
      assertMediaType(block.mimeType, place)
      return block
    case 'resource_link': return checkTypeAndUri(block, place)
    case 'resource': return { ...block, resource: checkEmbedded(block.resource, `${place}.resource`) }
  }
}

// An embedded resource must have a type:
// https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
function checkEmbedded (resource: ResourceContents, place: string): ResourceContents {
  assertMetaIsJson(resource._meta, `${place}._meta`)
  if ('blob' in resource) assertBase64(resource.blob, `${place}.blob`)
  const { mimeType = 'blob' in resource ? BYTES_TYPE : TEXT_TYPE } = resource
  return checkTypeAndUri({ ...resource, mimeType }, place)
}

/** Returns the same, with its URI percent-encoded where the author left that out. */
function checkTypeAndUri<T extends { readonly uri: string, readonly mimeType?: string }> (
  part: T, place: string
): T {
  if (part.mimeType !== undefined) assertMediaType(part.mimeType, place)
  const uri = toUri(part.uri)
  if (uri === undefined) {
    throw new ContractError(`${place}.uri`, ['must be a URI as RFC 3986 has it'])
  }
  return uri === part.uri ? part : { ...part, uri }
}

function assertMediaType (mimeType: string, place: string): void {
  if (isMediaType(mimeType)) return
  throw new ContractError(`${place}.mimeType`, ['must be a type such as text/plain'])
}

function assertBase64 (text: unknown, place: string): void {
  if (typeof text !== 'string' || !isBase64(text)) {
    throw new ContractError(place, ['must be base64, with its padding'])
  }
}

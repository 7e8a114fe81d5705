// Text of a tool for a model, without the characters that hide or disguise a part of it.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations

import { stripVTControlCharacters } from 'node:util'
import type { ContentBlock, ResourceContents } from '../../../platform/protocol/content.ts'

/**
 * Controls other than tab, newline and return, and the characters that override or isolate the direction of
 * text. Marks of direction and joiners, which scripts need, are not among them.
 */
const UNSAFE = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/u
const ALL_UNSAFE = new RegExp(UNSAFE, 'gu')

/** Returns the text without unsafe characters. An escape sequence of a terminal goes as a whole. */
export function toSafeText (text: string): string {
  return UNSAFE.test(text) ? stripVTControlCharacters(text).replace(ALL_UNSAFE, '') : text
}

/** Returns JSON of the same value, with escapes in place of unsafe characters. */
export function toSafeJson (json: string): string {
  return UNSAFE.test(json)
    ? json.replace(ALL_UNSAFE, (unsafe) => `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : json
}

/** Returns the block with safe texts. Its data, its URIs and its `_meta` stay as they are. */
export function toSafeBlock (block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'text': return { ...block, text: toSafeText(block.text) }
    case 'resource': return { ...block, resource: toSafeContents(block.resource) }
    case 'resource_link': {
      const { name, title, description } = block
      return {
        ...block,
        name: toSafeText(name),
        ...title !== undefined && { title: toSafeText(title) },
        ...description !== undefined && { description: toSafeText(description) }
      }
    }
    case 'image':
    case 'audio': return block
  }
}

function toSafeContents (resource: ResourceContents): ResourceContents {
  return 'blob' in resource ? resource : { ...resource, text: toSafeText(resource.text) }
}

// Writes checked contents as JSON. Base64 needs no escapes and may be megabytes long: it is written as it is.

import type { ContentBlock, PromptMessage, ResourceContents } from '../../../protocol/content.ts'

export function toContentJson (blocks: readonly ContentBlock[]): string {
  return `[${blocks.map(toBlockJson).join(',')}]`
}

export function toMessagesJson (messages: readonly PromptMessage[]): string {
  return `[${messages.map(toMessageJson).join(',')}]`
}

export function toContentsJson (contents: readonly ResourceContents[]): string {
  return `[${contents.map(toResourceJson).join(',')}]`
}

export function toBlockJson (block: ContentBlock): string {
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { data, ...own } = block
      return withMember(own, 'data', `"${data}"`)
    }
    case 'resource': {
      const { resource, ...own } = block
      return withMember(own, 'resource', toResourceJson(resource))
    }
    default: return JSON.stringify(block)
  }
}

function toMessageJson ({ content, ...own }: PromptMessage): string {
  return withMember(own, 'content', toBlockJson(content))
}

function toResourceJson (resource: ResourceContents): string {
  if (!('blob' in resource)) return JSON.stringify(resource)
  const { blob, ...own } = resource
  return withMember(own, 'blob', `"${blob}"`)
}

/** @param own has at least one member. */
function withMember (own: object, name: string, json: string): string {
  return `${JSON.stringify(own).slice(0, -1)},"${name}":${json}}`
}

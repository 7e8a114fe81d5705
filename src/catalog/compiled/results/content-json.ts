// Writes checked contents as JSON. Base64 needs no escapes and may be megabytes long: it is written as it is.

import type { ContentBlock, PromptMessage, ResourceContents } from '../../../protocol/content.ts'

export function toListJson<T> (all: readonly T[], toJson: (one: T) => string): string {
  return `[${all.map(toJson).join(',')}]`
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

export function toMessageJson (message: PromptMessage): string {
  // Most contents are texts. One pass writes the message with its content.
  if (message.content.type === 'text') return JSON.stringify(message)
  const { content, ...own } = message
  return withMember(own, 'content', toBlockJson(content))
}

export function toResourceJson (resource: ResourceContents): string {
  if (!('blob' in resource)) return JSON.stringify(resource)
  const { blob, ...own } = resource
  return withMember(own, 'blob', `"${blob}"`)
}

/** @param own has at least one member. */
function withMember (own: object, name: string, json: string): string {
  return `${JSON.stringify(own).slice(0, -1)},"${name}":${json}}`
}

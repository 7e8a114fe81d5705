// Writes checked contents as JSON. Base64 needs no escapes and may be megabytes long: it is written as it is.

import { isLarge, toJsonString } from '../../../base/large-text.ts'
import type { ContentBlock, PromptMessage, ResourceContents } from '../../../platform/protocol/content.ts'
import { LargeJson } from './large-json.ts'

export function toListJson<T> (all: readonly T[], toJson: (item: T) => string): string {
  return `[${all.map(toJson).join(',')}]`
}

/** Returns the same, with its large texts unwritten. All else is written now: its author may change it. */
export function toLargeListJson<T extends object> (
  all: readonly T[], toJson: (item: T) => string
): LargeJson {
  const written = all.map((item) => takeLargeText(item) ?? toJson(item))
  const length = written.reduce((sum, item) => sum + (typeof item === 'string' ? item : item.text).length, 0)
  return new LargeJson(length, async () => {
    let list = ''
    for (const item of written) {
      const json = typeof item === 'string' ? item : append(item.rest, 'text', await toJsonString(item.text))
      list += list === '' ? json : `,${json}`
    }
    return `[${list}]`
  })
}

export function hasLargeText (all: readonly object[]): boolean {
  return all.some((item) => 'text' in item && typeof item.text === 'string' && isLarge(item.text))
}

/** Returns the large text of a block or of contents, and the other members as JSON. */
function takeLargeText (item: object): { readonly text: string, readonly rest: string } | undefined {
  if (!('text' in item) || typeof item.text !== 'string' || !isLarge(item.text)) return undefined
  const { text, ...members } = item
  return { text, rest: JSON.stringify(members) }
}

export function toBlockJson (block: ContentBlock): string {
  switch (block.type) {
    case 'image':
    case 'audio': {
      const { data, ...members } = block
      return withMember(members, 'data', `"${data}"`)
    }
    case 'resource': {
      const { resource, ...members } = block
      return withMember(members, 'resource', toResourceJson(resource))
    }
    default: return JSON.stringify(block)
  }
}

export function toMessageJson (message: PromptMessage): string {
  // Most contents are texts. One pass writes the message with its content.
  if (message.content.type === 'text') return JSON.stringify(message)
  const { content, ...members } = message
  return withMember(members, 'content', toBlockJson(content))
}

export function toResourceJson (resource: ResourceContents): string {
  if (!('blob' in resource)) return JSON.stringify(resource)
  const { blob, ...members } = resource
  return withMember(members, 'blob', `"${blob}"`)
}

/** @param members has at least one member. */
function withMember (members: object, name: string, json: string): string {
  return append(JSON.stringify(members), name, json)
}

/** @param members has at least one member. */
function append (members: string, name: string, json: string): string {
  return `${members.slice(0, -1)},"${name}":${json}}`
}

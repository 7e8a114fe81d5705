// Writes checked contents as JSON. Base64 needs no escapes and may be megabytes long: it is written as it is.

import { isLarge, toJsonString } from '../../../base/large-text.ts'
import type { ContentBlock, PromptMessage, ResourceContents } from '../../../platform/protocol/content.ts'
import { LargeJson } from './large-json.ts'

export function toListJson<T> (all: readonly T[], toJson: (one: T) => string): string {
  return `[${all.map(toJson).join(',')}]`
}

/** Returns the same, with its large texts unwritten. All else is written now: its author may change it. */
export function toLargeListJson<T extends object> (
  all: readonly T[], toJson: (one: T) => string
): LargeJson {
  const written = all.map((one) => takeLargeText(one) ?? toJson(one))
  const length = written.reduce((sum, one) => sum + (typeof one === 'string' ? one : one.text).length, 0)
  return new LargeJson(length, async () => {
    let list = ''
    for (const one of written) {
      const json = typeof one === 'string' ? one : append(one.rest, 'text', await toJsonString(one.text))
      list += list === '' ? json : `,${json}`
    }
    return `[${list}]`
  })
}

export function hasLargeText (all: readonly object[]): boolean {
  return all.some((one) => 'text' in one && typeof one.text === 'string' && isLarge(one.text))
}

/** Returns the large text of a block or of contents, and the other members as JSON. */
function takeLargeText (one: object): { readonly text: string, readonly rest: string } | undefined {
  if (!('text' in one) || typeof one.text !== 'string' || !isLarge(one.text)) return undefined
  const { text, ...rest } = one
  return { text, rest: JSON.stringify(rest) }
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
  return append(JSON.stringify(own), name, json)
}

/** @param own has at least one member. */
function append (own: string, name: string, json: string): string {
  return `${own.slice(0, -1)},"${name}":${json}}`
}

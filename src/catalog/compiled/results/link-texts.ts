// Links to resources as texts too. Some hosts leave `resource_link` blocks out of what their model reads.

import { clip } from '../../../base/words.ts'
import type { ContentBlock, ResourceLink } from '../../../platform/protocol/content.ts'

/** The most characters that are searched for URIs, over all links of a content: that takes up to 20 ms. */
const MAX_SEARCHED = 50_000_000
const MAX_DESCRIPTION = 200

/** Returns the content with a text behind each link whose URI no text has. */
export function addLinkTexts (content: readonly ContentBlock[]): readonly ContentBlock[] {
  if (!content.some(isLink)) return content
  const hasText = findUris(content)
  const written = new Set<string>()
  return content.flatMap((block) => {
    if (!isLink(block) || written.has(block.uri) || hasText(block.uri)) return [block]
    written.add(block.uri)
    return [block, toLinkText(block)]
  })
}

/** Returns the content without links: the URI of each is in a text. For revisions that have no links. */
export function toLinkTexts (content: readonly ContentBlock[]): readonly ContentBlock[] {
  if (!content.some(isLink)) return content
  const hasText = findUris(content)
  return content.flatMap((block) => isLink(block) ? hasText(block.uri) ? [] : [toLinkText(block)] : [block])
}

function toLinkText ({ uri, name, title = name, description, annotations }: ResourceLink): ContentBlock {
  const about = description === undefined ? '' : `\n${clip(description, MAX_DESCRIPTION)}`
  return { type: 'text', text: `Resource ${title}: ${uri}${about}`, ...annotations && { annotations } }
}

/** Returns whether a text of the content has a URI. A longer URI that begins with it does not count. */
function findUris (content: readonly ContentBlock[]): (uri: string) => boolean {
  const text = content.map((block) => block.type === 'text' ? block.text : '').join('\n')
  let searched = 0
  return (uri) => {
    searched += text.length
    if (searched > MAX_SEARCHED) return false
    for (let at = text.indexOf(uri); at !== -1; at = text.indexOf(uri, at + 1)) {
      if (!/[\w/%#?&=~-]/.test(text.charAt(at + uri.length))) return true
    }
    return false
  }
}

function isLink (block: ContentBlock): block is ResourceLink {
  return block.type === 'resource_link'
}

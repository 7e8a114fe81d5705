// Links to resources as texts too. Some hosts leave `resource_link` blocks out of what their model reads.

import { clip } from '../../../base/words.ts'
import type { ContentBlock, ResourceLink } from '../../../platform/protocol/content.ts'

/** The most characters that are searched for URIs, over all links of a content: that takes up to 20 ms. */
const MAX_SEARCHED = 50_000_000
const MAX_DESCRIPTION = 200
/** What may follow a URI in a text: a character that URIs lack, or the end of a sentence. */
const END = /[.,;:!?'*)\]]{0,8}(?:$|[^\p{L}\p{N}_~!#$%&'()*+,./:;=?@[\]-])/uy
/** How many characters are searched in the time that a place with the URI takes. */
const PLACE_LENGTH = 500
/** What a URI does not begin behind: it is a part of another one there. */
const INSIDE = /[\p{L}\p{N}+.-]/u

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

/** Returns whether a text of the content has a URI. A longer URI that contains it is another one. */
function findUris (content: readonly ContentBlock[]): (uri: string) => boolean {
  const text = content.map((block) => block.type === 'text' ? block.text : '').join('\n')
  let searched = 0
  return (uri) => {
    searched += text.length
    for (let at = -1; searched <= MAX_SEARCHED; searched += PLACE_LENGTH) {
      at = text.indexOf(uri, at + 1)
      if (at === -1) return false
      END.lastIndex = at + uri.length
      if (END.test(text) && !INSIDE.test(text.charAt(at - 1))) return true
    }
    return false
  }
}

function isLink (block: ContentBlock): block is ResourceLink {
  return block.type === 'resource_link'
}

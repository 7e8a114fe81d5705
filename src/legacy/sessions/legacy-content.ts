// Converts content to the form of an earlier revision. Content of a kind that the revision does not have
// becomes text; fields that it does not have are left out.

import type { Annotations, ContentBlock, PromptMessage, ResourceContents } from '../../protocol/content.ts'
import {
  hasAudio, hasIcons, hasLastModified, hasMetaOnParts, hasResourceLinks
} from '../../protocol/revision-features.ts'

export function toLegacyContent (block: ContentBlock, revision: string): ContentBlock {
  return toKnownFields(toKnownKind(block, revision), revision)
}

export function toLegacyMessage ({ role, content }: PromptMessage, revision: string): PromptMessage {
  return { role, content: toLegacyContent(content, revision) }
}

export function toLegacyContents (contents: ResourceContents, revision: string): ResourceContents {
  if (hasMetaOnParts(revision) || contents._meta === undefined) return contents
  const { _meta, ...kept } = contents
  return kept
}

export function toLegacyAnnotations (
  annotations: Annotations | undefined, revision: string
): { annotations?: Annotations } {
  if (annotations === undefined) return {}
  if (hasLastModified(revision)) return { annotations }
  const { lastModified, ...kept } = annotations
  return Object.keys(kept).length === 0 ? {} : { annotations: kept }
}

function toKnownKind (block: ContentBlock, revision: string): ContentBlock {
  if (block.type === 'audio' && !hasAudio(revision)) {
    return toText(block, `[Audio of type ${block.mimeType}, which this protocol version does not have]`)
  }
  if (block.type === 'resource_link' && !hasResourceLinks(revision)) {
    const { uri, name, title = name, description } = block
    return toText(block, `Resource ${title}: ${uri}${description === undefined ? '' : `\n${description}`}`)
  }
  return block
}

function toText ({ annotations }: ContentBlock, text: string): ContentBlock {
  return { type: 'text', text, ...(annotations === undefined ? {} : { annotations }) }
}

function toKnownFields (block: ContentBlock, revision: string): ContentBlock {
  const { annotations, _meta, ...own } = block
  const fields: ContentBlock = {
    ...own,
    ...toLegacyAnnotations(annotations, revision),
    ...(_meta !== undefined && hasMetaOnParts(revision) && { _meta })
  }
  if (fields.type === 'resource') return { ...fields, resource: toLegacyContents(fields.resource, revision) }
  if (fields.type !== 'resource_link' || hasIcons(revision)) return fields
  const { icons, ...link } = fields
  return link
}

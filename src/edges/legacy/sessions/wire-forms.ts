// Converts the entries of lists, and content, to the form of an earlier revision. Content of a kind that the
// revision does not have becomes text. Fields that it does not have are left out.

import { toLinkTexts } from '../../../catalog/compiled/results/link-texts.ts'
import type {
  Annotations, ContentBlock, Icon, Meta, PromptMessage, ResourceContents
} from '../../../platform/protocol/content.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type {
  Implementation, JsonSchema, Prompt, Resource, ResourceTemplate, Tool
} from '../../../platform/protocol/primitives.ts'
import {
  hasAudio, hasDescribedImplementations, hasIcons, hasLastModified, hasMetaOnParts, hasResourceLinks,
  hasStructuredContent, hasTitles, hasToolAnnotations
} from '../../../platform/protocol/revisions.ts'

interface CommonFields { title?: string, icons?: readonly Icon[], _meta?: Meta }

/** The fields that all kinds of entries share, without those that the revision does not have. */
function toLegacyCommon (
  { title, icons, _meta }: { readonly [K in keyof CommonFields]: CommonFields[K] | undefined },
  revision: string
): CommonFields {
  return {
    ...(title !== undefined && hasTitles(revision) && { title }),
    ...(icons !== undefined && hasIcons(revision) && { icons }),
    ...(_meta !== undefined && hasMetaOnParts(revision) && { _meta })
  }
}

export function toLegacyTool (
  { title, icons, _meta, inputSchema, outputSchema, annotations, ...members }: Tool, revision: string
): Tool {
  return {
    ...members,
    ...toLegacyCommon({ title, icons, _meta }, revision),
    inputSchema: toLegacySchema(inputSchema),
    // In earlier revisions structured content is always an object.
    ...(outputSchema?.type === 'object' && hasStructuredContent(revision) && {
      outputSchema: toLegacySchema(outputSchema)
    }),
    ...(annotations !== undefined && hasToolAnnotations(revision) && { annotations })
  }
}

export function toLegacyPrompt (
  { title, icons, _meta, arguments: args, ...members }: Prompt, revision: string
): Prompt {
  return {
    ...members,
    ...toLegacyCommon({ title, icons, _meta }, revision),
    ...(args !== undefined && {
      arguments: args.map(
        ({ title, ...argument }) => ({ ...argument, ...toLegacyCommon({ title }, revision) })
      )
    })
  }
}

export function toLegacyResource (
  { title, icons, _meta, annotations, ...members }: Resource | ResourceTemplate, revision: string
): Resource | ResourceTemplate {
  return {
    ...members,
    ...toLegacyCommon({ title, icons, _meta }, revision),
    ...toLegacyAnnotations(annotations, revision)
  }
}

export function toLegacyImplementation (
  { name, version, title, icons, description, websiteUrl }: Implementation, revision: string
): Implementation {
  return {
    name,
    version,
    ...toLegacyCommon({ title, icons }, revision),
    ...(description !== undefined && hasDescribedImplementations(revision) && { description }),
    ...(websiteUrl !== undefined && hasDescribedImplementations(revision) && { websiteUrl })
  }
}

/** In earlier revisions the schema of a property is an object: `true` and `false` are not allowed. */
function toLegacySchema (schema: JsonSchema): JsonSchema {
  if (!isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name, property === true ? {} : property === false ? { not: {} } : property
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}

export function toLegacyContent (blocks: readonly ContentBlock[], revision: string): ContentBlock[] {
  const kinds = hasResourceLinks(revision) ? blocks : toLinkTexts(blocks)
  return kinds.map((block) => toKnownFields(toKnownKind(block, revision), revision))
}

export function toLegacyMessage ({ role, content }: PromptMessage, revision: string): PromptMessage {
  const [block = content] = toLegacyContent([content], revision)
  return { role, content: block }
}

export function toLegacyContents (contents: ResourceContents, revision: string): ResourceContents {
  if (hasMetaOnParts(revision) || contents._meta === undefined) return contents
  const { _meta, ...members } = contents
  return members
}

function toLegacyAnnotations (
  annotations: Annotations | undefined, revision: string
): { annotations?: Annotations } {
  if (annotations === undefined) return {}
  if (hasLastModified(revision)) return { annotations }
  const { lastModified, ...members } = annotations
  return Object.keys(members).length === 0 ? {} : { annotations: members }
}

function toKnownKind (block: ContentBlock, revision: string): ContentBlock {
  if (block.type === 'audio' && !hasAudio(revision)) {
    const { annotations, mimeType } = block
    const text = `[Audio of type ${mimeType}, which this protocol version does not have]`
    return { type: 'text', text, ...annotations && { annotations } }
  }
  return block
}

function toKnownFields (block: ContentBlock, revision: string): ContentBlock {
  const { annotations, _meta, ...members } = block
  const fields: ContentBlock = {
    ...members,
    ...toLegacyAnnotations(annotations, revision),
    ...(_meta !== undefined && hasMetaOnParts(revision) && { _meta })
  }
  if (fields.type === 'resource') return { ...fields, resource: toLegacyContents(fields.resource, revision) }
  if (fields.type !== 'resource_link' || hasIcons(revision)) return fields
  const { icons, ...link } = fields
  return link
}

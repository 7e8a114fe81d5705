// Converts the entries of lists, and content, to the form of an earlier revision. Content of a kind that the
// revision does not have becomes text. Fields that it does not have are left out.

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

export function toLegacyContent (block: ContentBlock, revision: string): ContentBlock {
  return toKnownFields(toKnownKind(block, revision), revision)
}

export function toLegacyMessage ({ role, content }: PromptMessage, revision: string): PromptMessage {
  return { role, content: toLegacyContent(content, revision) }
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

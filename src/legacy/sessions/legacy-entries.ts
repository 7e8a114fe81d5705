// Converts the entries of lists to the form of an earlier revision.

import type { Icon, Meta } from '../../protocol/content.ts'
import { isObject } from '../../protocol/json-rpc.ts'
import type {
  Implementation, JsonSchema, Prompt, Resource, ResourceTemplate, Tool
} from '../../protocol/primitives.ts'
import {
  hasDescribedImplementations, hasIcons, hasMetaOnParts, hasStructuredContent, hasTitles, hasToolAnnotations
} from '../../protocol/revision-features.ts'
import { toLegacyAnnotations } from './legacy-content.ts'

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
  { title, icons, _meta, inputSchema, outputSchema, annotations, ...own }: Tool, revision: string
): Tool {
  return {
    ...own,
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
  { title, icons, _meta, arguments: args, ...own }: Prompt, revision: string
): Prompt {
  return {
    ...own,
    ...toLegacyCommon({ title, icons, _meta }, revision),
    ...(args !== undefined && {
      arguments: args.map(
        ({ title, ...argument }) => ({ ...argument, ...toLegacyCommon({ title }, revision) })
      )
    })
  }
}

export function toLegacyResource (
  { title, icons, _meta, annotations, ...own }: Resource | ResourceTemplate, revision: string
): Resource | ResourceTemplate {
  return {
    ...own,
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

// Entries of lists as earlier revisions have them.

import type { Icon, Meta } from '../protocol/content.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type {
  Implementation, JsonSchema, Prompt, Resource, ResourceTemplate, Tool
} from '../protocol/primitives.ts'
import {
  hasDescribedImplementations, hasIcons, hasMetaOnParts, hasStructuredContent, hasTitles, hasToolAnnotations
} from '../protocol/revision-features.ts'
import { toLegacyAnnotations } from './legacy-content.ts'

interface Common { title?: string, icons?: Icon[], _meta?: Meta }

/** What all kinds of entries have in common, as far as the revision has it. */
function toLegacyCommon (
  { title, icons, _meta }: { readonly [K in keyof Common]: Common[K] | undefined }, revision: string
): Common {
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
    // Only what is an object may be structured content.
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

/** A property is described by an object there, where today `true` and `false` are schemas too. */
function toLegacySchema (schema: JsonSchema): JsonSchema {
  if (!isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name, property === true ? {} : property === false ? { not: {} } : property
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}

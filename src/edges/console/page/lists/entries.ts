// What the service offers, as entries of one list. The fragment of the page's URL is the key of an entry.

import type { Prompt, Resource, ResourceTemplate, Tool } from '../../../../platform/protocol/primitives.ts'
import { isRecord } from '../connection/json.ts'

export const ENTRY_GROUPS = ['Tools', 'Screens', 'Prompts', 'Resources', 'Templates', 'Skills'] as const

export type EntryGroup = typeof ENTRY_GROUPS[number]

export type ListedPrimitive =
  | { readonly kind: 'tool', readonly tool: Tool }
  | { readonly kind: 'prompt', readonly prompt: Prompt }
  | { readonly kind: 'resource', readonly resource: Resource }
  | { readonly kind: 'template', readonly template: ResourceTemplate }

export interface ServedEntry {
  /** Such as `tool:search_books`, as the state of the console names files. */
  readonly key: string
  readonly group: EntryGroup
  readonly title: string
  /** The name, or the URI of a resource. */
  readonly name: string
  /** In lower case. The filter looks here. */
  readonly searched: string
  readonly primitive: ListedPrimitive
}

export interface ServedLists {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
}

/** A tool with a screen is an entry of two groups. */
export function toEntries ({ tools, prompts, resources, templates }: ServedLists): ServedEntry[] {
  const toolEntries = tools.map((tool) => toEntry('Tools', tool.name, tool, { kind: 'tool', tool }))
  const screens = toolEntries.filter(({ primitive }) => screenUriOf(primitive) !== undefined)
  return [
    ...toolEntries,
    ...screens.map((entry): ServedEntry => ({ ...entry, group: 'Screens' })),
    ...prompts.map((prompt) => toEntry('Prompts', prompt.name, prompt, { kind: 'prompt', prompt })),
    ...resources.map(
      (resource) => toEntry(groupOf(resource), resource.uri, resource, { kind: 'resource', resource })
    ),
    ...templates.map(
      (template) => toEntry('Templates', template.uriTemplate, template, { kind: 'template', template })
    )
  ]
}

function groupOf ({ uri }: Resource): EntryGroup {
  return uri.startsWith('skill://') ? 'Skills' : 'Resources'
}

function toEntry (
  group: EntryGroup, name: string,
  texts: { readonly name: string, readonly title?: string, readonly description?: string },
  primitive: ListedPrimitive
): ServedEntry {
  const title = texts.title ?? texts.name
  const searched = [title, name, texts.description ?? ''].join('\n').toLowerCase()
  return { key: `${primitive.kind}:${name}`, group, title, name, searched, primitive }
}

/** Returns the URI of the screen that shows the results of a tool. */
export function screenUriOf (primitive: ListedPrimitive): string | undefined {
  if (primitive.kind !== 'tool') return undefined
  const ui = primitive.tool._meta?.ui
  return isRecord(ui) && typeof ui.resourceUri === 'string' ? ui.resourceUri : undefined
}

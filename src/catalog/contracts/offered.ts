// What a catalog offers to clients, by kind and key: the two sides of a comparison.

import type { LoadedCatalog } from '../compiled/catalog.ts'
import type { CompiledPrimitive, CompiledTool, TaskRule } from '../compiled/compiled-primitive.ts'
import type { Located } from '../compiled/contents.ts'

export const KINDS = ['tool', 'prompt', 'resource', 'resource template', 'skill'] as const

export type OfferedKind = typeof KINDS[number]

export interface OfferedPrimitive {
  /** The entry in the list. */
  readonly json: string
  /** `undefined` if they are not known: a list does not have them. */
  readonly scopes: readonly string[] | undefined
  /** The file of the definition, relative to its catalog; or the place that the list is from. */
  readonly file: string
  /** `undefined` for a tool without tasks, and if it is not known. */
  readonly task?: Pick<TaskRule, 'fingerprint' | 'mayGoOnChanged'> | undefined
  /** The names of the upstreams that its definition names. `undefined` if it names none, or is not known. */
  readonly upstreams?: readonly string[] | undefined
}

/** Primitives by name or URI. The files of skills are not among the resources. */
export type Offered = { readonly [K in OfferedKind]: ReadonlyMap<string, OfferedPrimitive> }

export function offeredBy ({ contents, snapshot: { primitives } }: LoadedCatalog): Offered {
  const files = new Set(primitives.skills.flatMap((skill) => skill.files))
  return {
    tool: withTasks(toEntries(contents.tools, primitives.tools), primitives.tools),
    prompt: toEntries(contents.prompts, primitives.prompts),
    resource: toEntries(contents.resources, primitives.listed.filter(({ key }) => !files.has(key))),
    'resource template': toEntries(contents.templates, primitives.templates),
    skill: toEntries(contents.skills, primitives.skills)
  }
}

function withTasks (
  entries: ReadonlyMap<string, OfferedPrimitive>, tools: readonly CompiledTool[]
): ReadonlyMap<string, OfferedPrimitive> {
  const tasks = new Map(tools.map(({ key, task }) => [key, task]))
  return new Map([...entries].map(([key, entry]) => [key, { ...entry, task: tasks.get(key) }]))
}

interface Keyed { readonly name?: string, readonly uri?: string, readonly uriTemplate?: string }

function toEntries (
  definitions: ReadonlyArray<Located<Keyed>>, primitives: readonly CompiledPrimitive[]
): ReadonlyMap<string, OfferedPrimitive> {
  const files = new Map(definitions.flatMap(({ definition: { name, uri, uriTemplate }, file }) => (
    [name, uri, uriTemplate].map((key) => [key, file] as const)
  )))
  return new Map(primitives.map(
    ({ key, json, scopes, upstreams }) => [key, {
      json, scopes, file: files.get(key) ?? '', upstreams: upstreams?.map(({ name }) => name)
    }]
  ))
}

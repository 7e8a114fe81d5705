// Finds the definitions of modules: those that they export, and those that only have to be made: handles,
// settings, dependencies and upstreams.

import { relative } from 'node:path'
import type { DependencyDefinition } from '../../platform/author/define-dependency.ts'
import type { HandleDefinition } from '../../platform/author/define-handle.ts'
import type { PromptDefinition } from '../../platform/author/define-prompt.ts'
import type { ResourceDefinition, ResourceTemplateDefinition } from '../../platform/author/define-resource.ts'
import type { SettingsDefinition } from '../../platform/author/define-settings.ts'
import type { ToolDefinition } from '../../platform/author/define-tool.ts'
import type { UpstreamDefinition } from '../../platform/author/define-upstream.ts'
import { kindOf, type DefinitionKind } from '../../platform/author/definition.ts'
import type { Located } from '../compiled/contents.ts'
import type { Namespace } from '../../platform/modules/namespace.ts'
import type { FileModule } from '../../platform/modules/reusable-modules.ts'
import { yieldToRequests } from '../../base/turns.ts'

interface ExportedDefinition {
  /** The name of the export, with the index in a list. Empty for a single default export. */
  readonly place: string
  readonly definition: unknown
}

/** Several loads may use one module. */
const definitionsOf = new WeakMap<Namespace, readonly ExportedDefinition[]>()

/** Finds the definitions among the exports and in exported lists. Each is returned once. */
export function findDefinitions (namespace: Namespace): readonly ExportedDefinition[] {
  const earlier = definitionsOf.get(namespace)
  if (earlier !== undefined) return earlier
  const unique = new Set<unknown>()
  const definitions = findAll(namespace).filter(({ definition }) => unique.size < unique.add(definition).size)
  definitionsOf.set(namespace, definitions)
  return definitions
}

function findAll (namespace: Namespace): ExportedDefinition[] {
  return Object.entries(namespace).flatMap(([name, value]) => {
    const place = name === 'default' ? '' : name
    if (!Array.isArray(value)) return kindOf(value) === undefined ? [] : [{ place, definition: value }]
    return value.flatMap((item: unknown, index) => {
      return kindOf(item) === undefined ? [] : [{ place: `${name}[${index}]`, definition: item }]
    })
  })
}

export const isTool = (value: unknown): value is ToolDefinition => kindOf(value) === 'tool'
export const isPrompt = (value: unknown): value is PromptDefinition => kindOf(value) === 'prompt'
export const isResource = (value: unknown): value is ResourceDefinition => kindOf(value) === 'resource'
const isHandle = (value: unknown): value is HandleDefinition => kindOf(value) === 'handle'
const isSettings = (value: unknown): value is SettingsDefinition => kindOf(value) === 'settings'
const isDependency = (value: unknown): value is DependencyDefinition => kindOf(value) === 'dependency'
const isUpstream = (value: unknown): value is UpstreamDefinition => kindOf(value) === 'upstream'
/** Whether a value is a definition that clients are not offered. */
export const isRegistered = (value: unknown): boolean =>
  isHandle(value) || isSettings(value) || isDependency(value) || isUpstream(value)
export const isTemplate = (
  value: unknown
): value is ResourceTemplateDefinition => kindOf(value) === 'resource-template'

export const DEFINE_FUNCTIONS: { readonly [K in DefinitionKind]: string } = {
  tool: 'defineTool',
  prompt: 'definePrompt',
  resource: 'defineResource',
  'resource-template': 'defineResourceTemplate',
  handle: 'defineHandle',
  settings: 'defineSettings',
  dependency: 'defineDependency',
  upstream: 'defineUpstream'
}

/** The functions whose results count without being exported. */
export const REGISTERING: ReadonlySet<string> = new Set(
  (['handle', 'settings', 'dependency', 'upstream'] as const).map((kind) => DEFINE_FUNCTIONS[kind])
)

interface RegisteredDefinitions {
  readonly handles: ReadonlyArray<Located<HandleDefinition>>
  readonly settings: ReadonlyArray<Located<SettingsDefinition>>
  readonly dependencies: ReadonlyArray<Located<DependencyDefinition>>
  readonly upstreams: ReadonlyArray<Located<UpstreamDefinition>>
}

/** Each definition is returned once, even if several modules export it. */
export async function findRegistered (
  root: string, modules: readonly FileModule[]
): Promise<RegisteredDefinitions> {
  const locations = new Map<unknown, { readonly file: string, readonly place: string }>()
  const add = (definition: unknown, file: string, place: string): void => {
    if (isRegistered(definition) && !locations.has(definition)) {
      locations.set(definition, { file: relative(root, file), place })
    }
  }
  // Exports come first: a problem can then name the export. A package with its own copy of this one registers
  // nothing, but a module may export what it defines.
  for (const { file, namespace } of modules) {
    await yieldToRequests()
    for (const { place, definition } of findDefinitions(namespace)) add(definition, file, place)
  }
  for (const { file, registered } of modules) for (const definition of registered) add(definition, file, '')
  const locatedOf = <D>(isKind: (value: unknown) => value is D): Array<Located<D>> => [...locations].flatMap(
    ([definition, at]) => isKind(definition) ? [{ definition, ...at }] : []
  )
  return {
    handles: locatedOf(isHandle),
    settings: locatedOf(isSettings),
    dependencies: locatedOf(isDependency),
    upstreams: locatedOf(isUpstream)
  }
}

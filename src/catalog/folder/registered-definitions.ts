// Finds the definitions that clients are not offered: handles, settings and dependencies. Modules in any
// folder define them, exported or not.

import { relative } from 'node:path'
import type { DependencyDefinition } from '../../author/define-dependency.ts'
import type { HandleDefinition } from '../../author/define-handle.ts'
import type { SettingsDefinition } from '../../author/define-settings.ts'
import type { Located } from '../compiled/contents.ts'
import type { LoadedModule } from '../modules/module-graph.ts'
import { yieldToRequests } from '../modules/yield-to-requests.ts'
import {
  DEFINE_FUNCTIONS, findDefinitions, isDependency, isHandle, isRegistered, isSettings
} from './module-definitions.ts'

/** The functions whose results count without being exported. */
export const REGISTERING: ReadonlySet<string> = new Set(
  (['handle', 'settings', 'dependency'] as const).map((kind) => DEFINE_FUNCTIONS[kind])
)

interface RegisteredDefinitions {
  readonly handles: ReadonlyArray<Located<HandleDefinition>>
  readonly settings: ReadonlyArray<Located<SettingsDefinition>>
  readonly dependencies: ReadonlyArray<Located<DependencyDefinition>>
}

/** Each definition is returned once, even if several modules export it. */
export async function findRegistered (
  root: string, modules: readonly LoadedModule[]
): Promise<RegisteredDefinitions> {
  const found = new Map<unknown, { readonly file: string, readonly place: string }>()
  const add = (definition: unknown, file: string, place: string): void => {
    if (isRegistered(definition) && !found.has(definition)) {
      found.set(definition, { file: relative(root, file), place })
    }
  }
  // Exports come first: a problem can then name the export. A package with its own copy of this one registers
  // nothing, but a module may export what it defines.
  for (const { file, exports } of modules) {
    await yieldToRequests()
    for (const { place, definition } of findDefinitions(exports)) add(definition, file, place)
  }
  for (const { file, registered } of modules) for (const definition of registered) add(definition, file, '')
  const locatedOf = <D>(isKind: (value: unknown) => value is D): Array<Located<D>> => [...found].flatMap(
    ([definition, at]) => isKind(definition) ? [{ definition, ...at }] : []
  )
  return {
    handles: locatedOf(isHandle), settings: locatedOf(isSettings), dependencies: locatedOf(isDependency)
  }
}

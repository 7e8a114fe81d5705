// The values that all requests of a snapshot share: those of its settings, and its open dependencies.

import type { DependencyDefinition } from '../../../platform/author/define-dependency.ts'
import type { SettingsDefinition } from '../../../platform/author/define-settings.ts'
import { kindOf } from '../../../platform/author/definition.ts'
import type { DependencySet } from '../dependencies/dependency-set.ts'
import type { CompiledSettings } from './compile-settings.ts'

export interface SharedValues {
  readonly settings: Pick<CompiledSettings, 'values' | 'incomplete'>
  /** `undefined` if the catalog has none, or none is open. */
  readonly dependencies: DependencySet | undefined
}

/** Throws if the definition was unknown when the catalog was loaded. */
export function findSettings<V> ({ settings }: SharedValues, definition: SettingsDefinition<V>): V {
  const values = settings.values.get(definition)
  if (values === undefined) throw unknownDefinition('settings')
  // Each value was checked against the schema that `V` is inferred from.
  return values as V
}

/** Throws if the definition was unknown when the catalog was loaded. */
export function findDependency<T> (
  { dependencies }: SharedValues, definition: DependencyDefinition<T>
): T {
  // Upstreams are opened as dependencies, but only `fetch` may use them.
  const dependency = kindOf(definition) === 'dependency' ? dependencies?.get(definition) : undefined
  if (dependency === undefined) throw unknownDefinition(`dependency ${JSON.stringify(definition.name)}`)
  // `T` is the type of what `open` of this definition returns.
  return dependency.value as T
}

export function unknownDefinition (kind: string): Error {
  return new Error(`Unknown ${kind}. Define it at the top level of a module of the catalog. ` +
    'Export it if the module imports another copy of trivet.')
}

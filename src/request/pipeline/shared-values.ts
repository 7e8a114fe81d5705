// What all requests of a snapshot share: the values of its settings and dependencies.

import type { DependencyDefinition } from '../../author/define-dependency.ts'
import type { SettingsDefinition } from '../../author/define-settings.ts'
import type { Snapshot } from '../../catalog/compiled/snapshot.ts'

/** Throws if the definition was not known when the catalog was loaded. */
export function settingsIn<V> (
  { settings }: Pick<Snapshot, 'settings'>, definition: SettingsDefinition<V>
): V {
  const values = settings.values.get(definition)
  if (values === undefined) throw unknownDefinition('settings')
  // Each value was checked against the schema that `V` is inferred from.
  return values as V
}

/** Throws if the definition was not known when the catalog was loaded. */
export function valueIn<T> (
  { dependencies }: Pick<Snapshot, 'dependencies'>, definition: DependencyDefinition<T>
): T {
  const opened = dependencies?.get(definition)
  if (opened === undefined) throw unknownDefinition(`dependency ${JSON.stringify(definition.name)}`)
  // `T` is the type of what `open` of this definition returns.
  return opened.value as T
}

export function unknownDefinition (what: string): Error {
  return new Error(`the catalog knows no such ${what}: define it while a module of the catalog is loaded, ` +
    'and export it if the module imports another copy of trivet')
}

// The current catalog: one snapshot, which a reload replaces.

import type { ListName } from '../protocol/notifications.ts'
import type { CompiledPrimitive } from './compiled-primitive.ts'
import type { Snapshot } from './snapshot.ts'

/** The differences that clients are told of after a replacement. */
export interface CatalogChange {
  /** The lists whose entries or scopes changed. */
  readonly lists: readonly ListName[]
  /** The files that were changed, added or removed: clients subscribe to a file, or to its directory. */
  readonly updatedUris: readonly string[]
}

export interface Catalog {
  /** Read this once per request: a request finishes on the snapshot that it began with. */
  readonly current: Snapshot
  replace (next: Snapshot): CatalogChange
}

export function createCatalog (first: Snapshot): Catalog {
  let current = first

  return {
    get current () { return current },
    replace (next) {
      const lists = findChangedLists(current, next)
      const updatedUris = changedKeys(current.stamps, next.stamps)
      current = next
      return { lists, updatedUris }
    }
  }
}

/** The keys whose values differ, in the order of `after`. Removed keys come last. */
function changedKeys (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...after.keys(), ...before.keys()])
  return [...keys].filter((key) => before.get(key) !== after.get(key))
}

function findChangedLists ({ primitives: before }: Snapshot, { primitives: after }: Snapshot): ListName[] {
  const isSame: { readonly [L in ListName]: boolean } = {
    tools: areSame(before.tools, after.tools),
    prompts: areSame(before.prompts, after.prompts),
    resources: areSame(before.listed, after.listed) && areSame(before.templates, after.templates)
  }
  return LISTS.filter((list) => !isSame[list])
}

const LISTS: readonly ListName[] = ['tools', 'prompts', 'resources']

function areSame (before: readonly CompiledPrimitive[], after: readonly CompiledPrimitive[]): boolean {
  return before.length === after.length && before.every(({ json, scopes }, index) => {
    return json === after[index]?.json && scopes.join(' ') === after[index].scopes.join(' ')
  })
}

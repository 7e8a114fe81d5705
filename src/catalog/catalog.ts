// The current catalog: one snapshot, which a reload replaces.

import { findListChanges, type ListChange } from './list-changes.ts'
import type { Snapshot } from './snapshot.ts'

/** The differences that clients are told of after a replacement. */
export interface CatalogChange {
  readonly lists: readonly ListChange[]
  /** The files that were changed, added or removed: clients subscribe to a file, or to its directory. */
  readonly updatedUris: readonly string[]
}

export interface Catalog {
  /** Read this once per request: a request finishes on the snapshot that it began with. */
  readonly current: Snapshot
  /** The dependencies that only the earlier snapshot has are closed when its last request has ended. */
  replace (next: Snapshot): CatalogChange
}

export function createCatalog (first: Snapshot): Catalog {
  let current = first

  return {
    get current () { return current },
    replace (next) {
      const lists = findListChanges(current, next)
      const updatedUris = changedKeys(current.stamps, next.stamps)
      if (next.dependencies !== current.dependencies) current.dependencies?.retire()
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

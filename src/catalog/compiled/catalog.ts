// The current catalog: one snapshot, which a reload replaces.

import type { CatalogContents } from './contents.ts'
import type { Snapshot } from './snapshot.ts'

/** A catalog as it was read, and as it is served. */
export interface LoadedCatalog { readonly contents: CatalogContents, readonly snapshot: Snapshot }

export interface Catalog {
  /** Read this once per request: a request finishes on the snapshot that it began with. */
  readonly current: Snapshot
  /**
   * Replaces the current snapshot in one step. Does nothing, and returns false, if `before` is not the
   * current one: what was found out about it no longer holds. The dependencies that only the earlier snapshot
   * has are closed when its last request has ended.
   */
  replace (before: Snapshot, next: Snapshot): boolean
}

export function createCatalog (first: Snapshot): Catalog {
  let current = first

  return {
    get current () { return current },
    replace (before, next) {
      if (before !== current) return false
      if (next.dependencies !== current.dependencies) current.dependencies?.retire()
      current = next
      return true
    }
  }
}

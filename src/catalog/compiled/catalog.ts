// The current catalog: one snapshot, which a reload replaces.

import type { CatalogContents } from './contents.ts'
import { findListChanges, type ListChange } from './lists/list-changes.ts'
import type { Snapshot } from './snapshot.ts'

/** A catalog as it was read, and as it is served. */
export interface LoadedCatalog { readonly contents: CatalogContents, readonly snapshot: Snapshot }

/** The differences that clients are told of after a replacement. */
export interface CatalogChange {
  readonly lists: readonly ListChange[]
  /** The files that were changed, added or removed: clients subscribe to a file, or to its directory. */
  readonly updated: readonly UpdatedFile[]
}

export interface UpdatedFile {
  readonly uri: string
  /**
   * The scopes that a removed file needed. Callers without them must not learn that it existed, and the next
   * snapshot does not know it.
   */
  readonly scopes?: readonly string[]
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
      const updated = findUpdated(current, next)
      if (next.dependencies !== current.dependencies) current.dependencies?.retire()
      current = next
      return { lists, updated }
    }
  }
}

function findUpdated (before: Snapshot, after: Snapshot): UpdatedFile[] {
  const uris = changedKeys(before.stamps, after.stamps)
  const isGone = (uri: string) => before.stamps.has(uri) && !after.stamps.has(uri)
  const guarded = new Map(
    before.primitives.resources.filter(({ key, scopes }) => scopes.length > 0 && isGone(key))
      .map(({ key, scopes }) => [key, scopes])
  )
  return uris.map((uri) => {
    const scopes = guarded.get(uri)
    return scopes === undefined ? { uri } : { uri, scopes }
  })
}

/** Finds the keys whose values differ, in the order of `after`. Removed keys come last. */
function changedKeys (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...after.keys(), ...before.keys()])
  return [...keys].filter((key) => before.get(key) !== after.get(key))
}

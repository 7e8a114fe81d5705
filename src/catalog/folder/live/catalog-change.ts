// What clients are told of after a replacement of the catalog.

import type { OfferTurn } from '../../../base/turns.ts'
import { findListChanges, type ListChange } from './list-changes.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'

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

/** Compares two snapshots. Requests run between the steps: a catalog may have many entries. */
export async function findCatalogChange (
  before: Snapshot, after: Snapshot, yieldToRequests: OfferTurn = () => undefined
): Promise<CatalogChange> {
  const lists = await findListChanges(before, after, yieldToRequests)
  await yieldToRequests()
  return { lists, updated: findUpdated(before, after) }
}

function findUpdated (before: Snapshot, after: Snapshot): UpdatedFile[] {
  const uris = changedKeys(before.stamps, after.stamps)
  const removed = new Set(uris.filter((uri) => !after.stamps.has(uri)))
  if (removed.size === 0) return uris.map((uri) => ({ uri }))
  const guarded = new Map(
    before.primitives.resources.filter(({ key, scopes }) => scopes.length > 0 && removed.has(key))
      .map(({ key, scopes }) => [key, scopes])
  )
  return uris.map((uri) => {
    const scopes = guarded.get(uri)
    return scopes === undefined ? { uri } : { uri, scopes }
  })
}

/** Finds the keys whose values differ, in the order of `after`. Removed keys come last. */
function changedKeys (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const changed = [...after.keys()].filter((key) => before.get(key) !== after.get(key))
  return [...changed, ...[...before.keys()].filter((key) => !after.has(key))]
}

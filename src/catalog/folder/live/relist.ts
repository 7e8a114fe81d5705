// Makes lists of resource templates again, while everything else of the catalog stays.

import { runInTurns, type Stepwise } from '../../../base/turns.ts'
import {
  compareListOrder, findDuplicates, type Compiled, type CompiledPrimitive
} from '../../compiled/compiled-primitive.ts'
import type { Problem } from '../../compiled/problem.ts'
import { createSnapshot, toCatalogVersion, type Snapshot } from '../../compiled/snapshot.ts'
import {
  locateEntries, makeListings, type Listing, type ListingOptions
} from '../../compiled/lists/listings.ts'

export interface Relisted {
  /** The one from before, if its lists are still right. */
  readonly snapshot: Snapshot
  readonly problems: readonly Problem[]
}

/**
 * A template with a problem keeps the entries that it has. If a URI would be listed twice, all templates keep
 * theirs.
 * @param isOutdated whether a list is made again.
 */
export async function relist (
  before: Snapshot, isOutdated: (listing: Listing) => boolean, options: ListingOptions
): Promise<Relisted> {
  const outdated = before.listings.filter(isOutdated)
  const problems: Problem[] = []
  // A reload must not close what the lists use.
  before.dependencies?.beginRequest()
  const results = await makeListings(outdated, problems, { ...before, isComplete: true }, options)
    .finally(() => before.dependencies?.endRequest())
  const nextOf = new Map(outdated.map((listing, index) => [listing, results[index] ?? listing]))
  const listings = before.listings.map((listing) => nextOf.get(listing) ?? listing)
  const resources = [...locateFixed(before), ...locateEntries(listings)]
  const offerTurn = options.yieldToRequests ?? (() => undefined)
  const duplicates = await runInTurns(findDuplicates('resource', resources, ({ key }) => key), offerTurn)
  if (duplicates.length > 0) return { snapshot: before, problems: [...problems, ...duplicates] }
  const next = await runInTurns(withListings(before, listings), offerTurn)
  return { snapshot: next.version === before.version ? before : next, problems }
}

function * withListings (before: Snapshot, listings: readonly Listing[]): Stepwise<Snapshot> {
  const entriesOf = (all: readonly Listing[]) => all.flatMap(({ entries }) => entries)
  const old = new Set<CompiledPrimitive>(entriesOf(before.listings))
  const fixed = before.primitives.listed.filter((entry) => !old.has(entry))
  const entries = [...fixed, ...entriesOf(listings)].toSorted(compareListOrder)
  const parts = { ...before, primitives: { ...before.primitives, listed: entries }, listings }
  const { pageSize, writer } = before
  const version = yield * toCatalogVersion(parts)
  return yield * createSnapshot({ ...parts, version }, { pageSize, writer })
}

/** The files of fixed resources are not kept. */
function locateFixed ({ primitives: { resources } }: Snapshot): Array<Compiled<CompiledPrimitive>> {
  const located = { definition: undefined, file: 'another file', place: '' }
  return resources.map((compiled) => ({ compiled, located }))
}

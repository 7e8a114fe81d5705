// The current catalog: one snapshot, which a reload replaces.

import { createHash } from 'node:crypto'
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
  let currentPrints = fingerprints(first)

  return {
    get current () { return current },
    replace (next) {
      const nextPrints = fingerprints(next)
      const lists = LISTS.filter((list) => currentPrints[list] !== nextPrints[list])
      const updatedUris = changedKeys(current.stamps, next.stamps)
      current = next
      currentPrints = nextPrints
      return { lists, updatedUris }
    }
  }
}

/** The keys whose values differ, in the order of `after`. Removed keys come last. */
function changedKeys (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...after.keys(), ...before.keys()])
  return [...keys].filter((key) => before.get(key) !== after.get(key))
}

const LISTS: readonly ListName[] = ['tools', 'prompts', 'resources']

function fingerprints (
  { primitives: { tools, prompts, listed, templates } }: Snapshot
): { readonly [L in ListName]: string } {
  return {
    tools: fingerprint(tools),
    prompts: fingerprint(prompts),
    resources: fingerprint([...listed, ...templates])
  }
}

function fingerprint (offered: readonly CompiledPrimitive[]): string {
  const hash = createHash('sha256')
  for (const { json, scopes } of offered) hash.update(`${json}\n${scopes.join(' ')}\n`)
  return hash.digest('hex')
}

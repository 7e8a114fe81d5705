// The catalog as it is now: one snapshot, replaced whole.

import { createHash } from 'node:crypto'
import type { ListName } from '../protocol/notifications.ts'
import type { CompiledPrimitive } from './compiled-primitive.ts'
import type { Snapshot } from './snapshot.ts'

/** What is different for clients after a replacement. */
export interface CatalogChange {
  /** The lists whose bytes are others now. */
  readonly lists: readonly ListName[]
  /** The files that were there before and after, with other contents. */
  readonly updatedUris: readonly string[]
}

export interface Catalog {
  /** Take it once per request: a request finishes on the snapshot that it began with. */
  readonly current: Snapshot
  replace (next: Snapshot): CatalogChange
}

export function createCatalog (first: Snapshot): Catalog {
  let current = first
  let marks = fingerprints(first)

  return {
    get current () { return current },
    replace (next) {
      const nextMarks = fingerprints(next)
      const lists = LISTS.filter((list) => marks[list] !== nextMarks[list])
      const updatedUris = [...next.stamps].filter(
        ([uri, stamp]) => (current.stamps.get(uri) ?? stamp) !== stamp
      ).map(([uri]) => uri)
      current = next
      marks = nextMarks
      return { lists, updatedUris }
    }
  }
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

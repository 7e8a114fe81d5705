// The sets of granted scopes that callers with open streams have, and what these callers may hear of.

import { LRUCache } from 'lru-cache'
import type { Principal } from '../access/principal.ts'
import type { Catalog } from './catalog.ts'
import { holdsScope } from './scope-hierarchy.ts'

/** The callers with one set of granted scopes, as the current catalog sees them. */
interface GrantedCallers {
  /** Whether they hold all of these scopes. */
  holds (scopes: readonly string[]): boolean
  /** Whether they may learn that the resource with this URI has changed. */
  mayHearOf (uri: string): boolean
}

export interface Audiences {
  /** The same object for callers with the same scopes, so that the streams of all of them share decisions. */
  of (principal: Principal): GrantedCallers
}

/** Above this number streams with the same scopes may have different objects, which only takes more time. */
const MAX_AUDIENCES = 1000

export function createAudiences (catalog: Catalog): Audiences {
  const known = new LRUCache<string, GrantedCallers>({ max: MAX_AUDIENCES })
  return {
    of ({ scopes }) {
      const key = [...scopes].sort().join(' ')
      const found = known.get(key) ?? createAudience(catalog, { scopes: new Set(scopes) })
      known.set(key, found)
      return found
    }
  }
}

/** Asks the current snapshot each time: a stream outlives reloads of the catalog. */
function createAudience (catalog: Catalog, principal: Pick<Principal, 'scopes'>): GrantedCallers {
  return {
    holds (scopes) {
      const { hierarchy } = catalog.current
      return scopes.every((scope) => holdsScope(principal.scopes, scope, hierarchy))
    },
    mayHearOf: (uri) => catalog.current.view(principal).mayHearOf(uri)
  }
}

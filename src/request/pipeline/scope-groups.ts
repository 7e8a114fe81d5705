// The groups that the callers with open streams belong to.

import { LRUCache } from 'lru-cache'
import type { Principal, ScopeGroup } from '../../platform/access/principal.ts'
import type { Catalog } from '../../catalog/compiled/catalog.ts'
import { toScopesKey } from '../../catalog/compiled/scopes/access-rule.ts'
import { holdsScope } from '../../catalog/compiled/scopes/scope-hierarchy.ts'

export interface ScopeGroups {
  /** Returns the same object for callers with the same scopes, so that their streams share decisions. */
  of (principal: Principal): ScopeGroup
}

/** Above this number streams with the same scopes may have different objects, which only takes more time. */
const MAX_GROUPS = 1000

export function createScopeGroups (catalog: Catalog): ScopeGroups {
  const groups = new LRUCache<string, ScopeGroup>({ max: MAX_GROUPS })
  return {
    of ({ scopes }) {
      const key = toScopesKey([...scopes].sort())
      const group = groups.get(key) ?? createScopeGroup(catalog, { scopes: new Set(scopes) })
      groups.set(key, group)
      return group
    }
  }
}

/** Asks the current snapshot each time: a stream outlives reloads of the catalog. */
function createScopeGroup (catalog: Catalog, principal: Pick<Principal, 'scopes'>): ScopeGroup {
  return {
    holds (scopes) {
      const { hierarchy } = catalog.current
      return scopes.every((scope) => holdsScope(principal.scopes, scope, hierarchy))
    },
    mayHearOf: (uri) => catalog.current.view(principal).mayHearOf(uri)
  }
}

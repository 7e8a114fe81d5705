// Scopes that include other scopes, as the catalog's settings say.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling

import type { Located, ScopeDefinition } from '../contents.ts'
import type { ReportProblem } from '../problem.ts'

/** By scope: all scopes that it includes, directly or through others. */
export type ScopeHierarchy = ReadonlyMap<string, ReadonlySet<string>>

/** Pairs of a scope and one that it includes: they are kept, and a chain of n scopes has n² / 2 of them. */
const MAX_PAIRS = 10_000

/** Reports scopes that are defined twice or include themselves, and a hierarchy that is too large. */
export function compileHierarchy (
  scopes: ReadonlyArray<Located<ScopeDefinition>>, reporterOf: (scope: Located<unknown>) => ReportProblem
): ScopeHierarchy {
  const byName = new Map<string, Located<ScopeDefinition>>()
  for (const scope of scopes) {
    const { name } = scope.definition
    if (byName.has(name)) reporterOf(scope)('name', `the scope ${JSON.stringify(name)} is defined twice`)
    else byName.set(name, scope)
  }
  const includesOf = (name: string) => byName.get(name)?.definition.includes ?? []
  const hierarchy = new Map<string, ReadonlySet<string>>()
  let pairs = 0
  for (const [name, scope] of byName) {
    const included = findIncluded(name, includesOf)
    if (included.has(name)) reporterOf(scope)('includes', `the scope ${JSON.stringify(name)} includes itself`)
    pairs += included.size
    if (pairs > MAX_PAIRS) {
      reporterOf(scope)('includes', `the scopes include more than ${MAX_PAIRS} others, counted together`)
      return new Map()
    }
    hierarchy.set(name, included)
  }
  return hierarchy
}

/** Directly or through others. */
function findIncluded (name: string, includesOf: (name: string) => readonly string[]): Set<string> {
  const found = new Set<string>()
  const waiting = [...includesOf(name)]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.size < found.add(next).size) waiting.push(...includesOf(next))
  }
  return found
}

/** Whether a caller holds a scope, itself or by one that includes it. */
export function holdsScope (held: ReadonlySet<string>, scope: string, hierarchy: ScopeHierarchy): boolean {
  return held.has(scope) || [...held].some((one) => hierarchy.get(one)?.has(scope) === true)
}

// Scopes that include other scopes, as the catalog's settings say.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling

import type { Located, ScopeDefinition } from '../contents.ts'
import type { ReportProblem } from '../problem.ts'

/** All scopes that each scope includes, directly or through others. */
export type ScopeHierarchy = ReadonlyMap<string, ReadonlySet<string>>

/** The most pairs of a scope and one that it includes. All are in memory; a chain of n scopes has n² / 2. */
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

/** Finds the scopes that a scope includes, directly or through others. */
function findIncluded (name: string, includesOf: (name: string) => readonly string[]): Set<string> {
  const included = new Set<string>()
  const waiting = [...includesOf(name)]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (included.size < included.add(next).size) waiting.push(...includesOf(next))
  }
  return included
}

/** Whether a caller holds a scope, itself or by one that includes it. */
export function holdsScope (granted: ReadonlySet<string>, scope: string, hierarchy: ScopeHierarchy): boolean {
  return granted.has(scope) || [...granted].some((name) => hierarchy.get(name)?.has(scope) === true)
}

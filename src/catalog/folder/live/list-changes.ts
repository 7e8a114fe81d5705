// Compares two snapshots: which lists differ, and for whom.

import { runInTurns, visitAll, type OfferTurn, type Stepwise } from '../../../base/turns.ts'
import { LIST_NAMES, type ListName } from '../../../platform/protocol/notifications.ts'
import { indexByKey, type CompiledPrimitive } from '../../compiled/compiled-primitive.ts'
import { toScopesKey, toWaysKey, waysToSee } from '../../compiled/scopes/access-rule.ts'
import type { ScopeHierarchy } from '../../compiled/scopes/scope-hierarchy.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { findChangedSpan } from './changed-span.ts'

export interface ListChange {
  readonly list: ListName
  /** Callers with all scopes of one of these sets see a difference. An empty set: every caller does. */
  readonly seenBy: ReadonlyArray<readonly string[]>
}

/** @param yieldToRequests called between steps. */
export async function findListChanges (
  before: Snapshot, after: Snapshot, yieldToRequests: OfferTurn
): Promise<ListChange[]> {
  const regranted = findRegranted(before.hierarchy, after.hierarchy)
  const changes: ListChange[] = []
  for (const list of LIST_NAMES) {
    const nextParts = partsOf(after, list)
    const sets: ScopeSet[][] = []
    for (const [index, old] of partsOf(before, list).entries()) {
      const next = nextParts[index] ?? []
      sets.push(await runInTurns(findChanged(old, next), yieldToRequests))
      if (regranted.size > 0) sets.push(findGranters([...old, ...next], regranted))
    }
    const seenBy = distinct(sets.flat())
    if (seenBy.length > 0) changes.push({ list, seenBy })
  }
  return changes
}

function partsOf (
  { primitives, ownTools }: Snapshot, list: ListName
): ReadonlyArray<readonly CompiledPrimitive[]> {
  // Skills have no notification of their own: a client that lists them again hears that resources changed.
  return list === 'resources'
    ? [primitives.listed, primitives.templates, primitives.skills]
    : list === 'tools' ? [primitives.tools, ownTools] : [primitives[list]]
}

type ScopeSet = readonly string[]

/** Finds what callers need to see the entries that differ. */
function * findChanged (
  before: readonly CompiledPrimitive[], after: readonly CompiledPrimitive[]
): Stepwise<ScopeSet[]> {
  // Comparing 20,000 entries by their keys takes 60 ms of CPU; the ends by themselves 1 ms.
  const span = findChangedSpan(before, after, (old, next) => isSame(old, next, true))
  yield
  const old = yield * indexByKey(span.before)
  const next = yield * indexByKey(span.after)
  const [keysBefore, keysAfter] = [yield * findKept(span.before, next), yield * findKept(span.after, old)]
  const isMoved = keysBefore.some((key, index) => key !== keysAfter[index])
  const sets: ScopeSet[] = []
  const compareWith = (entries: ReadonlyMap<string, CompiledPrimitive>) => (entry: CompiledPrimitive) => {
    const counterpart = entries.get(entry.key)
    if (counterpart === undefined || !isSame(entry, counterpart, isMoved)) sets.push(...waysToSee(entry))
  }
  yield * visitAll(span.before, compareWith(next))
  yield * visitAll(span.after, compareWith(old))
  return sets
}

/** Finds the keys that the other entries have too, in their order. */
function * findKept (
  entries: readonly CompiledPrimitive[], entriesByKey: ReadonlyMap<string, CompiledPrimitive>
): Stepwise<string[]> {
  const keys: string[] = []
  yield * visitAll(entries, ({ key }) => { if (entriesByKey.has(key)) keys.push(key) })
  return keys
}

function isSame (a: CompiledPrimitive, b: CompiledPrimitive, isMoved: boolean): boolean {
  return a === b || (
    a.key === b.key && a.json === b.json && toWaysKey(a) === toWaysKey(b) && (!isMoved || a.order === b.order)
  )
}

/** Finds the scopes that each scope includes only before, or only after. Empty for most reloads. */
function findRegranted (
  before: ScopeHierarchy, after: ScopeHierarchy
): ReadonlyMap<string, readonly string[]> {
  const without = (from: ScopeHierarchy, excluded: ScopeHierarchy, name: string) =>
    [...from.get(name) ?? []].filter((scope) => excluded.get(name)?.has(scope) !== true)
  const names = [...new Set([...before.keys(), ...after.keys()])]
  return new Map(
    names.map((name) => [name, [...without(before, after, name), ...without(after, before, name)]] as const)
      .filter(([, scopes]) => scopes.length > 0)
  )
}

/** Finds the scopes whose holders see other entries than before, because the scopes include others. */
function findGranters (
  entries: readonly CompiledPrimitive[], regranted: ReadonlyMap<string, readonly string[]>
): ScopeSet[] {
  const scopesInUse = new Set(entries.flatMap((entry) => waysToSee(entry).flat()))
  const granters = [...regranted].filter(([, scopes]) => scopes.some((scope) => scopesInUse.has(scope)))
  return granters.map(([name]) => [name])
}

/** Returns each set once. If every caller sees a difference, the other sets say nothing more. */
function distinct (sets: readonly ScopeSet[]): ScopeSet[] {
  const byScopes = new Map(sets.map((set) => [toScopesKey(set), set]))
  const unique = [...byScopes.values()]
  return unique.some((set) => set.length === 0) ? [[]] : unique
}

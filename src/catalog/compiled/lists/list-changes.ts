// Compares two snapshots: which lists differ, and for whom.

import type { OfferTurn } from '../../../base/stepwise.ts'
import { LIST_NAMES, type ListName } from '../../../protocol/notifications.ts'
import { byKey, type CompiledPrimitive } from '../compiled-primitive.ts'
import { toScopesKey, toWaysKey, waysToSee } from '../scopes/access-rule.ts'
import type { ScopeHierarchy } from '../scopes/scope-hierarchy.ts'
import type { Snapshot } from '../snapshot.ts'
import { findChangedSpan } from './changed-span.ts'

export interface ListChange {
  readonly list: ListName
  /** Callers with all scopes of one of these sets see a difference. An empty set: every caller does. */
  readonly seenBy: ReadonlyArray<readonly string[]>
}

/** @param yieldToRequests called between lists. */
export async function findListChanges (
  before: Snapshot, after: Snapshot, yieldToRequests: OfferTurn
): Promise<ListChange[]> {
  const regranted = findRegranted(before.hierarchy, after.hierarchy)
  const changes: ListChange[] = []
  for (const list of LIST_NAMES) {
    const nextParts = partsOf(after, list)
    const sets: ScopeSet[][] = []
    for (const [index, old] of partsOf(before, list).entries()) {
      await yieldToRequests()
      const next = nextParts[index] ?? []
      sets.push(findChanged(old, next))
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
function findChanged (before: readonly CompiledPrimitive[], after: readonly CompiledPrimitive[]): ScopeSet[] {
  // Comparing 20,000 entries by their keys blocks requests for 60 ms; the ends by themselves for 1 ms.
  const span = findChangedSpan(before, after, (old, next) => isSame(old, next, true))
  const [old, next] = [byKey(span.before), byKey(span.after)]
  const isMoved = hasMoved(
    span.before.filter(({ key }) => next.has(key)), span.after.filter(({ key }) => old.has(key))
  )
  const isIn = (entries: ReadonlyMap<string, CompiledPrimitive>, entry: CompiledPrimitive): boolean => {
    const other = entries.get(entry.key)
    return other !== undefined && isSame(entry, other, isMoved)
  }
  return [
    ...span.before.filter((entry) => !isIn(next, entry)), ...span.after.filter((entry) => !isIn(old, entry))
  ].flatMap(waysToSee)
}

function isSame (a: CompiledPrimitive, b: CompiledPrimitive, isMoved: boolean): boolean {
  return a === b || (
    a.key === b.key && a.json === b.json && toWaysKey(a) === toWaysKey(b) && (!isMoved || a.order === b.order)
  )
}

function hasMoved (before: readonly CompiledPrimitive[], after: readonly CompiledPrimitive[]): boolean {
  return before.some(({ key }, index) => key !== after[index]?.key)
}

/** Finds the scopes that each scope includes only before, or only after. Empty for most reloads. */
function findRegranted (
  before: ScopeHierarchy, after: ScopeHierarchy
): ReadonlyMap<string, readonly string[]> {
  const without = (from: ScopeHierarchy, other: ScopeHierarchy, name: string) =>
    [...from.get(name) ?? []].filter((scope) => other.get(name)?.has(scope) !== true)
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
  const needed = new Set(entries.flatMap((entry) => waysToSee(entry).flat()))
  const granters = [...regranted].filter(([, scopes]) => scopes.some((scope) => needed.has(scope)))
  return granters.map(([name]) => [name])
}

/** Returns each set once. If every caller sees a difference, the other sets say nothing more. */
function distinct (sets: readonly ScopeSet[]): ScopeSet[] {
  const byScopes = new Map(sets.map((set) => [toScopesKey(set), set]))
  const unique = [...byScopes.values()]
  return unique.some((set) => set.length === 0) ? [[]] : unique
}

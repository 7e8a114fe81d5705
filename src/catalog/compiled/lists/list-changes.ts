// Compares two snapshots: which lists differ, and for whom.

import { LIST_NAMES, type ListName } from '../../../protocol/notifications.ts'
import { byKey, type CompiledPrimitive } from '../compiled-primitive.ts'
import { toScopesKey, toWaysKey, waysToSee } from '../scopes/access-rule.ts'
import type { ScopeHierarchy } from '../scopes/scope-hierarchy.ts'
import type { Snapshot } from '../snapshot.ts'

export interface ListChange {
  readonly list: ListName
  /** Callers with all scopes of one of these sets see a difference. An empty set: every caller does. */
  readonly seenBy: ReadonlyArray<readonly string[]>
}

export function findListChanges (before: Snapshot, after: Snapshot): ListChange[] {
  const regranted = findRegranted(before.hierarchy, after.hierarchy)
  return LIST_NAMES.flatMap((list) => {
    const parts = partsOf(before, list).map((old, index) => [old, partsOf(after, list)[index] ?? []] as const)
    const seenBy = distinct(parts.flatMap(
      ([old, next]) => [...findChanged(old, next), ...findGranters([...old, ...next], regranted)]
    ))
    return seenBy.length === 0 ? [] : [{ list, seenBy }]
  })
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
  const [old, next] = [byKey(before), byKey(after)]
  const isMoved = hasMoved(before.filter(({ key }) => next.has(key)), after.filter(({ key }) => old.has(key)))
  const isSame = (a: CompiledPrimitive, b: CompiledPrimitive | undefined) => b !== undefined &&
    a.json === b.json && toWaysKey(a) === toWaysKey(b) &&
    (!isMoved || a.order === b.order)
  return [
    ...before.filter((entry) => !isSame(entry, next.get(entry.key))),
    ...after.filter((entry) => !isSame(entry, old.get(entry.key)))
  ].flatMap(waysToSee)
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
  if (regranted.size === 0) return []
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

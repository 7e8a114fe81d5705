// The one rule that decides what a caller sees, and what it may use. Lists, look-ups and notifications all
// ask it.

import { insufficientScope } from '../../../platform/protocol/errors.ts'
import type { CompiledPrimitive } from '../compiled-primitive.ts'

/** Whether the caller holds a scope. */
export type IsGranted = (scope: string) => boolean

export type Guarded = Pick<CompiledPrimitive, 'scopes' | 'whenMissing' | 'seenWith'> & {
  readonly key?: string
}

/** Tells sets of scopes apart, in the order that they have. A scope of a token's list may have a space. */
export function toScopesKey (scopes: readonly string[]): string {
  return scopes.length === 0 ? '' : JSON.stringify(scopes)
}

const NO_SCOPES: readonly string[] = []

/** Returns the scopes without which a caller must not learn that the primitive exists. */
export function scopesToSee ({ scopes, whenMissing }: Guarded): readonly string[] {
  return whenMissing === 'challenge' ? NO_SCOPES : scopes
}

/** Returns sets of scopes: a caller who holds all scopes of one of them sees the primitive. */
export function waysToSee (primitive: Guarded): ReadonlyArray<readonly string[]> {
  return primitive.seenWith ?? [scopesToSee(primitive)]
}

/** Tells apart who sees primitives. Most catalogs have thousands that everybody sees. */
export function toWaysKey (primitive: Guarded): string {
  if (primitive.seenWith === undefined && primitive.scopes.length === 0) return ''
  return waysToSee(primitive).map(toScopesKey).join(' or ')
}

export function maySee (primitive: Guarded, isGranted: IsGranted): boolean {
  return waysToSee(primitive).some((scopes) => scopes.every(isGranted))
}

export function mayUse (primitive: Guarded, isGranted: IsGranted): boolean {
  return primitive.seenWith === undefined ? primitive.scopes.every(isGranted) : maySee(primitive, isGranted)
}

/**
 * Throws InsufficientScope if the caller may not use all of the primitives, which it sees. The error names
 * the scopes of all of them, so that the client needs to ask for more scopes only once.
 */
export function checkScopes (used: readonly Guarded[], isGranted: IsGranted): void {
  if (used.every((primitive) => mayUse(primitive, isGranted))) return
  const subject = used.length === 1 ? used[0]?.key : undefined
  throw insufficientScope([...new Set(used.flatMap(({ scopes }) => scopes))], subject)
}

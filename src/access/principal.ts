// Who a request acts for, and what they were granted.

import { createHash } from 'node:crypto'

export interface Principal {
  /** Who: the `sub` of a token. Absent for an anonymous caller. */
  readonly subject?: string
  /** Through which OAuth client. */
  readonly clientId?: string
  /** The OAuth scopes granted to this request. */
  readonly scopes: ReadonlySet<string>
}

/** A caller of whom nothing is known and to whom nothing is granted. */
export const ANONYMOUS: Principal = Object.freeze({ scopes: new Set<string>() })

/** Whether the principal was granted every one of the scopes. */
export function hasScopes (principal: Principal, scopes: readonly string[]): boolean {
  return scopes.every((scope) => principal.scopes.has(scope))
}

/**
 * Whose state is whose: the same for every request of one subject through one client, whatever its scopes, and
 * nothing can be read back from it. Anonymous callers are all the same one.
 */
export function ownerOf ({ subject, clientId }: Principal): string {
  if (subject === undefined && clientId === undefined) return 'anonymous'
  return createHash('sha256').update(JSON.stringify([subject, clientId])).digest('base64url')
}

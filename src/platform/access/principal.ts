// The principal: who a request acts for.

import { hash } from 'node:crypto'

/**
 * The identity that a request acts for, and the scopes that were granted.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/index
 */
export interface Principal {
  /** The user or service that the access token was issued for, usually its `sub`. Absent if anonymous. */
  readonly subject?: string
  /** The OAuth client that the subject uses. */
  readonly clientId?: string
  /** The issuer of the token. Subjects of different issuers are different, even if their names match. */
  readonly issuer?: string
  /**
   * The OAuth scopes that were granted to this request, as the access token has them: the scopes that they
   * include by server.yaml are not among them. Empty for an anonymous caller.
   */
  readonly scopes: ReadonlySet<string>
  /** The verified claims of the access token. */
  readonly claims?: { readonly [name: string]: unknown }
  /** When the access token expires, in milliseconds since 1970. Streams of the principal end then. */
  readonly expiresAt?: number
}

/** A caller without a subject, a client or scopes. */
export const ANONYMOUS: Principal = Object.freeze({ scopes: new Set<string>() })

/** The owner of what anonymous callers make. */
export const ANONYMOUS_OWNER = 'anonymous'

/**
 * The owner of the state that a principal makes. It is the same for every request of one subject through one
 * client, whatever the scopes. It is a hash: the subject cannot be read from it. All anonymous callers are
 * one owner.
 */
export function ownerOf (principal: Principal): string {
  if (isAnonymous(principal)) return ANONYMOUS_OWNER
  let owner = owners.get(principal)
  if (owner === undefined) {
    const { issuer, subject, clientId } = principal
    owner = hash('sha256', JSON.stringify([issuer, subject, clientId]), 'base64url')
    owners.set(principal, owner)
  }
  return owner
}

/** The requests of one token often share its principal. */
const owners = new WeakMap<Principal, string>()

/**
 * Returns a name of the subject with its issuer. Failures and shares count for it, whatever clients it uses:
 * clients are easy to have many of. A principal without a subject is its client.
 */
export function subjectOf (principal: Principal): string {
  let name = subjects.get(principal)
  if (name === undefined) {
    const { issuer, subject, clientId } = principal
    name = JSON.stringify([issuer, subject ?? { clientId }])
    subjects.set(principal, name)
  }
  return name
}

const subjects = new WeakMap<Principal, string>()

export function isAnonymous ({ subject, clientId }: Principal): boolean {
  return subject === undefined && clientId === undefined
}

/** The claims with scopes that a client may ask for. Roles and permissions are no such scopes. */
const ASKED_CLAIMS = ['scope', 'scp'] as const

/**
 * Returns the granted scopes that a client can ask an authorization server for. Others, such as roles, come
 * from the administrator, and a request for them would fail.
 */
export function askableScopes ({ scopes, claims }: Principal): string[] {
  const all = [...scopes].filter((scope) => SCOPE_TOKEN.test(scope))
  if (claims === undefined) return all
  const requested = new Set(ASKED_CLAIMS.flatMap((name): unknown => {
    const value = claims[name]
    return typeof value === 'string' ? value.split(' ') : value
  }))
  return all.filter((scope) => requested.has(scope))
}

/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** The callers with the same granted scopes. A reload of the catalog may change what they may hear of. */
export interface ScopeGroup {
  /** Whether its callers hold all of these scopes. */
  holds (scopes: readonly string[]): boolean
  /** Whether its callers may learn that the resource with this URI has changed. */
  mayHearOf (uri: string): boolean
}

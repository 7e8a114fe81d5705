// The seam between the sign-in and upstreams: what another server gave for callers whose tokens this service
// has made itself.

import type { Claims } from './claims.ts'
import type { ClientCredentials } from './client-authentication.ts'
import type { Principal } from './principal.ts'
import type { ExchangeForm } from './token-rules.ts'

/** Each promise rejects with an AuthenticationUnavailable if the server gives no answer. */
export interface SignedInCallers {
  /** The issuer of their principals. */
  readonly issuer: string
  /** The issuer of what is exchanged. */
  readonly server: string
  /** The identity of this service at that server. */
  readonly client: ClientCredentials
  readonly form?: ExchangeForm | undefined
  /** Returns a name of what is exchanged. `undefined` if the principal has nothing. */
  nameOf (principal: Principal): string | undefined
  /** Resolves to what is exchanged, or to `undefined` if it has been taken back. */
  read (principal: Principal): Promise<string | undefined>
  /** Resolves to what the server says of the caller. Returns `undefined` for all others. */
  readClaims (principal: Principal): Promise<Claims> | undefined
}

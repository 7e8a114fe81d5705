// One way to verify access tokens. Each mode of authentication is an implementation.

import type { Principal } from './principal.ts'

export interface TokenVerifier {
  /**
   * Resolves to `undefined` if the token is not of the kind that this verifier knows. Rejects with an
   * AuthenticationError if it is of that kind and not valid, and with an AuthenticationUnavailable if that
   * cannot be found out.
   */
  verify (token: string): Promise<Principal | undefined>
  /** Releases what the verifier holds. */
  close? (): void | Promise<void>
}

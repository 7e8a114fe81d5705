// One way to verify access tokens. Each mode of authentication is an implementation.

import type { Principal } from './principal.ts'

export interface TokenVerifier {
  /**
   * How long a verified token may be kept, in milliseconds. 0: every request asks the verifier, so that a
   * token that is taken back stops working at once.
   */
  readonly maxAgeMs: number
  /**
   * Rejects with a TokenNotKnown if the token is not of the kind that this verifier knows, with another
   * AuthenticationError if it is of that kind and not valid, and with an AuthenticationUnavailable if that
   * cannot be found out. No message contains the token.
   */
  verify (token: string): Promise<Principal>
  /** Releases what the verifier holds. */
  close? (): void | Promise<void>
}

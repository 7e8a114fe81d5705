// The tokens that principals came with. Only the verification of tokens and their exchange take part.

import type { Principal } from './principal.ts'

/**
 * A principal does not have its token as a property: handlers, log lines and spans get principals. Only this
 * object reads the token. The composition gives it to the authenticator and to the exchange.
 */
export class CallerTokens {
  /** A token is forgotten with its principal. */
  readonly #tokens = new WeakMap<Principal, string>()

  add (principal: Principal, token: string): void {
    this.#tokens.set(principal, token)
  }

  /** Returns `undefined` for anonymous callers, and for a principal that was read from a record. */
  of (principal: Principal): string | undefined {
    return this.#tokens.get(principal)
  }
}

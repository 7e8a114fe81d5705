// What says to an upstream who calls. Each type of auth is an implementation.

import type { Principal } from '../../../platform/access/principal.ts'

/** The caller that an upstream is called for. */
export interface CredentialCaller {
  readonly principal: Principal
  /** Aborts when the call has ended. What others wait for too goes on. */
  readonly signal: AbortSignal
}

export type CredentialHeaders = Readonly<Record<string, string>>

export interface Credential {
  /**
   * Returns, or resolves to, the headers that say who calls, by their names in lower case. Throws, or rejects
   * with, a CredentialError.
   */
  headers (caller: CredentialCaller): CredentialHeaders | Promise<CredentialHeaders>
  /**
   * Forgets what the upstream has refused with status 401. Returns whether `headers` may give something else
   * now. Absent if it never does.
   * @param caller the object that `headers` got: what it returned last was refused.
   */
  forget? (caller: CredentialCaller): boolean
  close? (): void | Promise<void>
}

/**
 * Why there is no credential. `caller`: this caller can have none, such as an anonymous one. `refused`: the
 * authorization server refuses it for this caller. `unavailable`: the authorization server does not answer as
 * it must, or gives this service none.
 */
export type CredentialFailure = 'caller' | 'refused' | 'unavailable'

/** The message is for the log. It contains no token and no secret. */
export class CredentialError extends Error {
  readonly failure: CredentialFailure

  constructor (failure: CredentialFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CredentialError'
    this.failure = failure
  }
}

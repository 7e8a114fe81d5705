// The seam for authentication: the interface, the implementation without authentication, and the errors. The
// messages of the errors are for the log: the client is told only the code.

import { StacklessError } from '../../base/stackless-error.ts'
import { ANONYMOUS, type Principal } from './principal.ts'

/** The sender of a token that is not verified yet. */
export interface TokenSender {
  /** The IP address, or the half of an IPv6 address that a network has. Absent for this machine. */
  readonly network: string | undefined
  /**
   * Throws if the request may not wait, because too many wait already. Call it before a wait for another
   * server.
   */
  checkRoom (): void
}

/** Finds the principal of each request. Pass yours to `createApp`. */
export interface Authenticator {
  /**
   * Whether requests without a token are served. `false` by default: what every caller gets alike is then
   * `private` for caches.
   */
  readonly admitsAnonymous?: boolean
  /**
   * Called once for each HTTP request, before its body is read. Throws, or rejects, where the token is not
   * valid: the request is then answered with HTTP 401. An AuthenticationError decides what else the client is
   * told; an AuthenticationUnavailable answers HTTP 503.
   * @param authorization the value of the `Authorization` header; `undefined` when the client sent none.
   * @param sender who sent the request.
   */
  authenticate (authorization: string | undefined, sender?: TokenSender): Principal | Promise<Principal>
  /**
   * Whether the token that a principal came with still counts, and with all of its scopes. Called every two
   * seconds for each principal that has an open stream of changes, or has resumed the stream of a call: the
   * stream ends after `false`. It may reject as `authenticate` does. Absent: streams end at `expiresAt` only.
   */
  isStillValid? (principal: Principal): boolean | Promise<boolean>
  /** Called when the app closes. */
  close? (): void | Promise<void>
}

/** Every caller is anonymous and has no scopes. */
export const openToAll: Authenticator = { authenticate: () => ANONYMOUS }

/**
 * The codes of RFC 6750, section 3.1. `undefined`: the request has no token, and the client is told no code.
 */
export type AuthenticationErrorCode = 'invalid_request' | 'invalid_token' | undefined

/** The caller is not authenticated. The answer is HTTP 401; 400 for `invalid_request`. It has no stack. */
export class AuthenticationError extends StacklessError {
  readonly code: AuthenticationErrorCode

  constructor (code: AuthenticationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AuthenticationError'
    this.code = code
  }
}

/**
 * The token is not of the kind that a verifier knows, so another verifier may know it. It is not valid if no
 * verifier knows it.
 */
export class TokenNotKnown extends AuthenticationError {
  constructor (message: string) {
    super('invalid_token', message)
    this.name = 'TokenNotKnown'
  }
}

/**
 * The token can be neither accepted nor refused: an authorization server gave no usable answer, or a file of
 * tokens cannot be read. The request is answered with HTTP 503. A client that got 401 would throw its token
 * away.
 */
export class AuthenticationUnavailable extends Error {
  constructor (message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AuthenticationUnavailable'
  }
}

/**
 * Returns the message of a library's error for the log, with the code of the network error below it. The
 * error itself may hold claims, tokens or whole answers.
 */
export function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const { message, cause } = error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === undefined ? message : `${message} (${String(code)})`
}

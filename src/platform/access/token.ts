// An access token: how a request carries it, what stands for it in memory, and what verifies it.

import { hash } from 'node:crypto'
import { AuthenticationError } from './authentication.ts'
import type { Principal } from './principal.ts'

/** One way to verify access tokens. Each mode of authentication is an implementation. */
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
   * @param network of who sent the token. Absent: this machine, or a token that was good before.
   */
  verify (token: string, network?: string): Promise<Principal>
  /** Releases what the verifier holds. */
  close? (): void | Promise<void>
}

/** Longer tokens are refused unread. */
const MAX_TOKEN_CHARS = 16 * 1024
const SCHEME = /^bearer(?![\w-])/i
const CREDENTIALS = /^bearer +(\S+) *$/i
const B64_TOKEN = /^[\w.~+/-]+=*$/

/**
 * Reads the token of an Authorization header: RFC 6750, section 2.1; RFC 9110, section 11.4. `undefined` if
 * there is no header, or it has another scheme. Throws an AuthenticationError.
 */
export function readBearerToken (authorization: string | undefined): string | undefined {
  if (authorization === undefined || !SCHEME.test(authorization)) return undefined
  const [, token] = CREDENTIALS.exec(authorization) ?? []
  if (token === undefined) {
    throw new AuthenticationError(
      'invalid_request', 'the Authorization header is not Bearer, a space and one token'
    )
  }
  if (token.length > MAX_TOKEN_CHARS) {
    throw new AuthenticationError('invalid_token', `the token is longer than ${MAX_TOKEN_CHARS} characters`)
  }
  if (B64_TOKEN.test(token)) return token
  throw new AuthenticationError('invalid_token', 'the token has characters that no token has')
}

/** Returns the name of a token in memory and in files. The token cannot be read from it. */
export function hashToken (token: string): string {
  return hash('sha256', token, 'hex')
}

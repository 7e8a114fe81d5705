// Reads the access token of an Authorization header. RFC 6750, section 2.1; RFC 9110, section 11.4.

import { AuthenticationError } from './authentication-error.ts'

/** Longer tokens are refused unread. */
const MAX_TOKEN_CHARS = 16 * 1024
const SCHEME = /^bearer(?: |$)/i
const B64_TOKEN = /^[\w.~+/-]+=*$/

/** `undefined` if there is no header, or it has another scheme. Throws an AuthenticationError. */
export function readBearerToken (authorization: string | undefined): string | undefined {
  if (authorization === undefined || !SCHEME.test(authorization)) return undefined
  const token = authorization.slice('bearer'.length).trim()
  if (token.length > MAX_TOKEN_CHARS) {
    throw new AuthenticationError('invalid_token', `the token is longer than ${MAX_TOKEN_CHARS} characters`)
  }
  if (B64_TOKEN.test(token)) return token
  if (token === '' || /\s/.test(token)) {
    throw new AuthenticationError('invalid_request', 'the Authorization header is not Bearer and one token')
  }
  throw new AuthenticationError('invalid_token', 'the token has characters that no token has')
}

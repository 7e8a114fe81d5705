// The errors of authentication. Their messages are for the log: the client is told only the code.

/**
 * The codes of RFC 6750, section 3.1. `undefined`: the request has no token, and the client is told no code.
 */
export type AuthenticationErrorCode = 'invalid_request' | 'invalid_token' | undefined

/** The caller is not authenticated. The request is answered with HTTP 401; 400 for `invalid_request`. */
export class AuthenticationError extends Error {
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
 * The authorization server did not answer, so that nobody knows whether the token is valid. The request is
 * answered with HTTP 503: a client that got 401 would throw its token away.
 */
export class AuthenticationUnavailable extends Error {
  constructor (message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AuthenticationUnavailable'
  }
}

// Puts a token of an authorization server into the headers of a call.

import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import { TokenRefused } from '../tokens/token-endpoint.ts'
import { NothingToExchange } from '../tokens/token-exchange.ts'
import {
  CredentialError, type Credential, type CredentialCaller, type CredentialFailure, type CredentialHeaders
} from './credential.ts'

/** Gives tokens to calls. */
export interface TokenSource {
  /** Returns, or resolves to, a token. May throw or reject with any error. */
  read (caller: CredentialCaller): string | Promise<string>
  /** Drops a token that the upstream has refused. Returns whether `read` may give another one. */
  forget (caller: CredentialCaller, refused: string): boolean
  /** What a refusal of the authorization server means: whether this caller can do something about it. */
  readonly refusal: CredentialFailure
}

/** Calls with a bearer token: RFC 6750, section 2.1. */
export function createBearerCredential ({ read, forget, refusal }: TokenSource): Credential {
  /** The token that each caller got last: the upstream may refuse one that was replaced meanwhile. */
  const tokens = new WeakMap<CredentialCaller, string>()

  function toHeaders (caller: CredentialCaller, token: string): CredentialHeaders {
    tokens.set(caller, token)
    return { authorization: `Bearer ${token}` }
  }

  return {
    headers (caller) {
      try {
        const token = read(caller)
        if (typeof token === 'string') return toHeaders(caller, token)
        return token.then((late) => toHeaders(caller, late), (error: unknown) => {
          throw toCredentialError(error, refusal)
        })
      } catch (error) {
        throw toCredentialError(error, refusal)
      }
    },
    forget (caller) {
      const refused = tokens.get(caller)
      return refused !== undefined && forget(caller, refused)
    }
  }
}

/** Returns other errors as they are, such as the reason of a signal. */
export function toCredentialError (error: unknown, refusal: CredentialFailure): unknown {
  if (error instanceof NothingToExchange) return new CredentialError('caller', error.message)
  if (error instanceof TokenRefused) return new CredentialError(refusal, error.message)
  if (error instanceof AuthenticationUnavailable) return new CredentialError('unavailable', error.message)
  return error
}

/** The log of an upstream. */
export interface CredentialLog {
  warn (fields: object, message: string): void
}

/**
 * Returns what reports scopes that an issuer did not grant, once for each upstream. The token is used all the
 * same: providers name the scopes that they grant in their own way, and the upstream decides what it allows.
 */
export function createScopeReport (
  log: CredentialLog, upstream: string
): (missing: readonly string[]) => void {
  let isReported = false
  return (missing) => {
    if (isReported) return
    isReported = true
    log.warn({ upstream, missing }, 'the token for an upstream has fewer scopes than its definition asks for')
  }
}

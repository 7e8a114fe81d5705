// Verifies access tokens by asking the authorization server about each. RFC 7662.

import { LRUCache } from 'lru-cache'
import { clock } from '../base/time.ts'
import { audiencesOf, type AcceptedAudience } from './accepted-audience.ts'
import { AuthenticationError } from './authentication-error.ts'
import { openIssuer, type AuthorizationServerOptions } from './authorization-servers.ts'
import type { ClientCredentials } from './client-authentication.ts'
import { readIntrospectionAnswer } from './introspection-answer.ts'
import { createIntrospectionRequest } from './introspection-request.ts'
import { hashToken } from './token-hash.ts'
import type { TokenRules } from './token-rules.ts'
import type { TokenVerifier } from './token-verifier.ts'

export interface IntrospectionVerifierOptions extends AuthorizationServerOptions {
  /** The issuer of the tokens. Its metadata names the endpoint, unless `endpoint` is set. */
  readonly issuer: string
  readonly endpoint?: string
  /** Who this service is at the authorization server. */
  readonly client: ClientCredentials
  readonly audiences: readonly AcceptedAudience[]
  readonly rules: TokenRules
  /** How many refused tokens are remembered. 10 000 by default. */
  readonly maxRefused?: number
}

const MAX_AGE_MS = 60_000
const REFUSED_MAX_AGE_MS = 10_000

/**
 * A token is valid if the server says that it is active. `iss`, `aud`, `nbf` and `exp` are checked where the
 * answer has them. Without `aud`, the server alone decides whether the token is for this service: RFC 7662
 * lets a server answer each client differently, and not every server does. Throws a TypeError if the issuer,
 * the endpoint or the key cannot be used, or no audience is accepted.
 */
export function createIntrospectionVerifier (options: IntrospectionVerifierOptions): TokenVerifier {
  const { issuer, client, rules, maxRefused = 10_000, now = clock.now } = options
  const audiences = audiencesOf(issuer, options.audiences)
  const ask = createIntrospectionRequest(openIssuer(issuer, options), options.endpoint, client)
  const refused = new LRUCache<string, { readonly error: AuthenticationError, readonly until: number }>({
    max: maxRefused
  })
  return {
    maxAgeMs: MAX_AGE_MS,
    async verify (token) {
      const key = hashToken(token)
      const refusal = refused.get(key)
      if (refusal !== undefined && refusal.until > now()) throw refusal.error
      const answer = await ask(token)
      try {
        return readIntrospectionAnswer(answer, { issuer, audiences, rules, nowMs: now() })
      } catch (error) {
        if (error instanceof AuthenticationError) {
          refused.set(key, { error, until: now() + REFUSED_MAX_AGE_MS })
        }
        throw error
      }
    }
  }
}

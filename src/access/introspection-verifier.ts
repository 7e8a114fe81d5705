// Verifies access tokens by asking the authorization server about each. RFC 7662.

import { LRUCache } from 'lru-cache'
import {
  allowInsecureRequests, customFetch, introspectionRequest, processIntrospectionResponse, ResponseBodyError,
  WWWAuthenticateChallengeError, type AuthorizationServer, type IntrospectionResponse
} from 'oauth4webapi'
import { clock } from '../base/time.ts'
import { AuthenticationError, AuthenticationUnavailable, reasonOf, TokenNotKnown } from './authentication.ts'
import { openIssuer, type AuthorizationServerOptions, type IssuerAccess } from './authorization-servers.ts'
import { toPrincipal } from './claims.ts'
import { createClientAuthentication, type ClientCredentials } from './client-authentication.ts'
import type { Principal } from './principal.ts'
import { readServerUrl } from './server-url.ts'
import { audiencesOf, CLOCK_LEEWAY_MS, type AcceptedAudience, type TokenRules } from './token-rules.ts'
import { hashToken, type TokenVerifier } from './token.ts'

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
 * A token is valid if the server says that it is active and for this service. `iss`, `nbf`, `exp` and the
 * kind of the token are checked where the answer has them. An answer without `aud` refuses the token: many
 * servers call every active token active, whoever asks. Throws a TypeError if the issuer,
 * the endpoint or the key cannot be used, or no audience is accepted.
 */
export function createIntrospectionVerifier (options: IntrospectionVerifierOptions): TokenVerifier {
  const { issuer, client, rules, maxRefused = 10_000, now = clock.now } = options
  const audiences = audiencesOf(issuer, options.audiences)
  const ask = createIntrospectionRequest(openIssuer(issuer, options), options.endpoint, client)
  const refusals = new LRUCache<string, { readonly error: AuthenticationError, readonly until: number }>({
    max: maxRefused
  })
  return {
    maxAgeMs: MAX_AGE_MS,
    async verify (token) {
      const key = hashToken(token)
      const refusal = refusals.get(key)
      if (refusal !== undefined && refusal.until > now()) throw refusal.error
      const answer = await ask(token)
      try {
        return readIntrospectionAnswer(answer, { issuer, audiences, rules, nowMs: now() })
      } catch (error) {
        if (error instanceof AuthenticationError) {
          refusals.set(key, { error, until: now() + REFUSED_MAX_AGE_MS })
        }
        throw error
      }
    }
  }
}

/**
 * The result rejects with an AuthenticationUnavailable. Without an endpoint, the metadata of the issuer names
 * it.
 */
function createIntrospectionRequest (
  { issuer, fetch, readMetadata }: IssuerAccess, endpoint: string | undefined, credentials: ClientCredentials
): (token: string) => Promise<IntrospectionResponse> {
  const fixed = endpoint === undefined
    ? undefined
    : { issuer, introspection_endpoint: readServerUrl(endpoint).href }
  const client = { client_id: credentials.clientId }
  const authenticate = createClientAuthentication(credentials)
  return async (token) => {
    const server = fixed ?? await readMetadata()
    try {
      const response = await introspectionRequest(checkEndpoint(server), client, authenticate, token, {
        [customFetch]: fetch, [allowInsecureRequests]: true
      })
      return await processIntrospectionResponse(server, client, response)
    } catch (error) {
      throw new AuthenticationUnavailable(`${issuer} cannot be asked about tokens: ${toReason(error)}`)
    }
  }
}

function checkEndpoint (server: AuthorizationServer): AuthorizationServer {
  const { introspection_endpoint: endpoint } = server
  if (endpoint === undefined) throw new Error('its metadata has no introspection_endpoint')
  readServerUrl(endpoint)
  return server
}

function toReason (error: unknown): string {
  const isOurs = error instanceof WWWAuthenticateChallengeError || error instanceof ResponseBodyError
  if (!isOurs) return reasonOf(error)
  const code = error instanceof ResponseBodyError ? ` ${error.error}` : ''
  return `it answered with status ${error.status}${code}. Check the credentials of this service`
}

interface ExpectedAnswer {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly rules: TokenRules
  readonly nowMs: number
}

/** Throws an AuthenticationError. It is a TokenNotKnown if the token may be another server's. */
function readIntrospectionAnswer (
  answer: IntrospectionResponse, { issuer, audiences, rules, nowMs }: ExpectedAnswer
): Principal {
  const { active, iss, aud, exp, nbf } = answer
  if (!active) throw new TokenNotKnown(`${issuer} says that the token is not active`)
  if (iss !== undefined && iss !== issuer) throw refuse('it has another issuer')
  const names = typeof aud === 'string' ? [aud] : aud
  if (names === undefined) throw refuse('the answer has no aud, so it may be for another service')
  if (!(Array.isArray(names) && names.some((name) => audiences.includes(name)))) {
    throw refuse('it is for another audience')
  }
  if (exp !== undefined && !(toMs(exp) > nowMs - CLOCK_LEEWAY_MS)) throw refuse('it has expired')
  if (nbf !== undefined && !(toMs(nbf) <= nowMs + CLOCK_LEEWAY_MS)) throw refuse('it is not valid yet')
  return toPrincipal(answer, issuer, rules)
}

/** NaN for what is no number, so that each comparison with it is false. */
function toMs (seconds: unknown): number {
  return typeof seconds === 'number' ? seconds * 1000 : NaN
}

function refuse (reason: string): AuthenticationError {
  return new AuthenticationError('invalid_token', `the token is active, and not accepted: ${reason}`)
}

// Verifies access tokens by asking the authorization server about each. RFC 7662.

import { LRUCache } from 'lru-cache'
import {
  allowInsecureRequests, customFetch, introspectionRequest, processIntrospectionResponse, ResponseBodyError,
  WWWAuthenticateChallengeError, type AuthorizationServer, type IntrospectionResponse
} from 'oauth4webapi'
import { audiencesOf, type AcceptedAudience } from './accepted-audience.ts'
import { AuthenticationError, AuthenticationUnavailable } from './authentication-error.ts'
import { openIssuer, type AuthorizationServerOptions, type IssuerAccess } from './authorization-servers.ts'
import { readServerUrl } from './bounded-fetch.ts'
import { createClientAuthentication, type ClientCredentials } from './client-authentication.ts'
import { reasonOf } from './error-reason.ts'
import { readIntrospectionAnswer } from './introspection-answer.ts'
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
  const { issuer, client, rules, maxRefused = 10_000, now = Date.now } = options
  const audiences = audiencesOf(issuer, options.audiences)
  const ask = createQuestion(openIssuer(issuer, options), options.endpoint, client)
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

/** Rejects with an AuthenticationUnavailable. */
function createQuestion (
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

// Verifies access tokens by asking the authorization server about each. RFC 7662.

import { LRUCache } from 'lru-cache'
import {
  allowInsecureRequests, customFetch, introspectionRequest, processIntrospectionResponse,
  type IntrospectionResponse
} from 'oauth4webapi'
import { clock } from '../../base/time.ts'
import { AuthenticationError, AuthenticationUnavailable, reasonOf, TokenNotKnown } from './authentication.ts'
import {
  checkEndpoint, openIssuer, type AuthorizationServerOptions, type IssuerAccess
} from './authorization-servers.ts'
import { toPrincipal } from './claims.ts'
import { FETCH_LIMITS } from './bounded-fetch.ts'
import { createClientAuthentication, type ClientCredentials } from './client-authentication.ts'
import type { Principal } from './principal.ts'
import { createServerGuard, readRetryAfterMs, ServerBusy, type ServerGuardOptions } from './server-guard.ts'
import { readServerUrl } from './server-url.ts'
import { audiencesOf, CLOCK_LEEWAY_MS, type AcceptedAudience, type TokenRules } from './token-rules.ts'
import { hashToken, type TokenVerifier } from './token.ts'

export interface IntrospectionVerifierOptions
  extends AuthorizationServerOptions, Pick<ServerGuardOptions, 'maxAsking' | 'maxWaiting'> {
  /** The issuer of the tokens. Its metadata names the endpoint, unless `endpoint` is set. */
  readonly issuer: string
  readonly endpoint?: string
  /** The identity of this service at the authorization server. */
  readonly client: ClientCredentials
  readonly audiences: readonly AcceptedAudience[]
  readonly rules: TokenRules
  /** How many refused tokens are remembered. 10 000 by default. */
  readonly maxRefused?: number
  /** None by default. */
  readonly refusalRate?: RefusalRate
}

/** Limits how many refused tokens a network sends in a time. */
export interface RefusalRate {
  /** Throws if the network has sent so many. */
  check (network: string): void
  count (network: string): void
}

const MAX_AGE_MS = 60_000
const REFUSED_MAX_AGE_MS = 10_000
const COOLDOWN_MS = 5000

/**
 * A token is valid if the server says that it is active and for this service. `iss`, `nbf`, `exp` and the
 * kind of the token are checked where the answer has them. An answer without `aud` refuses the token: many
 * servers say of every valid token that it is active, also to services that it is not for. Throws a TypeError
 * if the issuer, the endpoint or the key cannot be used, or no audience is accepted.
 */
export function createIntrospectionVerifier (options: IntrospectionVerifierOptions): TokenVerifier {
  const { issuer, client, rules, maxRefused = 10_000, refusalRate, now = clock.now } = options
  const audiences = audiencesOf(issuer, options.audiences)
  const request = createIntrospectionRequest(openIssuer(issuer, options), options.endpoint, client)
  const { limits: { timeoutMs } = FETCH_LIMITS, cooldownMs = COOLDOWN_MS } = options
  const guard = createServerGuard({ ...options, cooldownMs, patienceMs: timeoutMs, now, isFailure })
  const refusals = new LRUCache<string, { readonly error: AuthenticationError, readonly until: number }>({
    max: maxRefused
  })
  return {
    maxAgeMs: MAX_AGE_MS,
    async verify (token, network) {
      const key = hashToken(token)
      const refusal = refusals.get(key)
      if (refusal !== undefined && refusal.until > now()) throw refusal.error
      if (network !== undefined) refusalRate?.check(network)
      try {
        return await guard(async () => {
          const answer = await request(token)
          return readIntrospectionAnswer(answer, { issuer, audiences, rules, nowMs: now() })
        }, network)
      } catch (error) {
        if (error instanceof AuthenticationError) {
          refusals.set(key, { error, until: now() + REFUSED_MAX_AGE_MS })
          if (network !== undefined) refusalRate?.count(network)
        }
        throw error
      }
    }
  }
}

/** The server does not take the request about one token. */
class RequestRefused extends AuthenticationUnavailable {}

function isFailure (error: unknown): boolean {
  return !(error instanceof AuthenticationError || error instanceof RequestRefused)
}

/**
 * The result rejects with an AuthenticationUnavailable, or with an AuthenticationError if the server says
 * that it does not know such tokens. Without an endpoint, the metadata of the issuer names it.
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
      const response = await introspectionRequest(
        checkEndpoint(server, 'introspection_endpoint'), client, authenticate, token,
        { [customFetch]: fetch, [allowInsecureRequests]: true }
      )
      if (response.status !== 200) throw await readRefusal(issuer, response)
      return await processIntrospectionResponse(server, client, response)
    } catch (error) {
      if (error instanceof AuthenticationError || error instanceof AuthenticationUnavailable) throw error
      throw new AuthenticationUnavailable(`${issuer} cannot be asked about tokens: ${reasonOf(error)}`)
    }
  }
}

const CLIENT_ERRORS = ['invalid_client', 'unauthorized_client', 'access_denied']
const TOKEN_ERRORS = ['unsupported_token_type', 'invalid_token']
/** Statuses that may depend on the token. */
const REQUEST_STATUSES = [400, 413, 414, 422, 431]

/** Reads an answer that is no introspection, such as a 401 with an empty body. */
async function readRefusal (issuer: string, response: Response): Promise<Error> {
  const { status } = response
  const code = await readErrorCode(response)
  if (status === 400 && TOKEN_ERRORS.includes(code)) {
    return new TokenNotKnown(`${issuer} knows no such token: ${code}`)
  }
  const reason = `it answered with status ${`${status} ${code}`.trim()}`
  const answer = `${issuer} cannot be asked about tokens: ${reason}`
  if (status === 401 || status === 403 || CLIENT_ERRORS.includes(code)) {
    return new AuthenticationUnavailable(`${answer}. Check the credentials of this service`)
  }
  if (REQUEST_STATUSES.includes(status)) return new RequestRefused(answer)
  if (status === 429) return new ServerBusy(answer, readRetryAfterMs(response))
  return new AuthenticationUnavailable(answer)
}

/** The text is empty if the body has no error code as RFC 6749 has them. */
async function readErrorCode (response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined)
  const code = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : ''
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
  if (iss !== undefined && typeof iss !== 'string') throw refuse('its iss is not a text')
  if (iss !== undefined && iss !== issuer) throw refuse('it has another issuer')
  const names = typeof aud === 'string' ? [aud] : aud
  if (names === undefined) throw refuse('the answer has no aud, so it may be for another service')
  if (!(Array.isArray(names) && names.some((name) => audiences.includes(name)))) {
    throw refuse('it is for another audience')
  }
  if (readTimeMs('exp', exp, Infinity) <= nowMs - CLOCK_LEEWAY_MS) throw refuse('it has expired')
  if (readTimeMs('nbf', nbf, -Infinity) > nowMs + CLOCK_LEEWAY_MS) throw refuse('it is not valid yet')
  return toPrincipal(answer, issuer, rules)
}

/** @param seconds of any type: the library does not check it. */
function readTimeMs (name: string, seconds: unknown, absent: number): number {
  if (seconds === undefined) return absent
  // JSON has no NaN, and a number that is too large is Infinity.
  if (typeof seconds === 'number') return seconds * 1000
  throw refuse(`its ${name} is not a number`)
}

function refuse (reason: string): AuthenticationError {
  return new AuthenticationError('invalid_token', `the token is active, and not accepted: ${reason}`)
}

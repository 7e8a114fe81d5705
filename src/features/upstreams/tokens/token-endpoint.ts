// Requests for tokens, to the token endpoint of an issuer: RFC 6749, RFC 8693, RFC 7523. What an issuer
// answers may be anything. No token, no secret and no answer gets into a message.

import {
  allowInsecureRequests, customFetch, genericTokenEndpointRequest, processGenericTokenEndpointResponse,
  ResponseBodyError, type TokenEndpointResponse
} from 'oauth4webapi'
import { clock } from '../../../base/time.ts'
import { AuthenticationUnavailable, reasonOf } from '../../../platform/access/authentication.ts'
import {
  checkEndpoint, openIssuer, type AuthorizationServerOptions
} from '../../../platform/access/authorization-servers.ts'
import {
  createClientAuthentication, type ClientCredentials
} from '../../../platform/access/client-authentication.ts'
import { readRetryAfterMs, ServerBusy } from '../../../platform/access/server-guard.ts'

export interface TokenEndpointOptions extends AuthorizationServerOptions {
  readonly issuer: string
  /** The identity of this service at the issuer. */
  readonly client: ClientCredentials
}

/** A token that an issuer made for this service. */
export interface IssuedToken {
  readonly accessToken: string
  readonly refreshToken?: string
  /** How long it counts from the beginning of the request on, in milliseconds. */
  readonly lifeMs: number
  /** The scopes that were asked for and not granted. */
  readonly missingScopes: readonly string[]
}

export interface TokenRequest {
  readonly grantType: string
  readonly scopes?: readonly string[]
  readonly parameters: { readonly [name: string]: string | undefined }
}

/** Rejects with a TokenRefused, or with an AuthenticationUnavailable. */
export type TokenEndpoint = (request: TokenRequest) => Promise<IssuedToken>

/** The issuer gives no token for this request. */
export class TokenRefused extends Error {
  constructor (message: string) {
    super(message)
    this.name = 'TokenRefused'
  }
}

/** How long a token counts if the issuer does not say it, in milliseconds. */
const UNKNOWN_LIFE_MS = 60_000
/** A longer life is cut to this. */
const MAX_LIFE_MS = 86_400_000
const MAX_TOKEN_CHARS = 16 * 1024
const BEARER_TOKEN = /^[\w.~+/-]+=*$/
/** The name of a kind of access token by RFC 8693, section 3. Absent in the answers of other grants. */
const ACCESS_TOKEN_TYPES = ['access_token', 'jwt'].map((name) => `urn:ietf:params:oauth:token-type:${name}`)

/** Errors of the service's own set-up: every caller would get them. RFC 6749, section 5.2. */
const CLIENT_ERRORS = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type']
/** Other codes are not shown: a server could echo a token as its error. */
const REQUEST_ERRORS = [
  'invalid_request', 'invalid_grant', 'invalid_scope', 'invalid_target', 'invalid_token', 'access_denied',
  'interaction_required', 'login_required', 'consent_required', 'account_selection_required',
  'invalid_resource', 'insufficient_scope', 'slow_down'
]
const FAULTS = ['server_error', 'temporarily_unavailable']

/** Throws a TypeError if the issuer or the key cannot be used. The issuer is asked at the first request. */
export function openTokenEndpoint (options: TokenEndpointOptions): TokenEndpoint {
  const { issuer, client: credentials } = options
  const { fetch, readMetadata } = openIssuer(issuer, options)
  const client = { client_id: credentials.clientId }
  const authenticate = createClientAuthentication(credentials)
  return async ({ grantType, scopes = [], parameters }) => {
    const server = await readMetadata()
    const startedAt = clock.monotonic()
    try {
      const response = await genericTokenEndpointRequest(
        checkEndpoint(server, 'token_endpoint'), client, authenticate, grantType, toForm(scopes, parameters),
        { [customFetch]: fetch, [allowInsecureRequests]: true }
      )
      if (response.status === 429) {
        throw new ServerBusy(`${issuer} has too much to do`, readRetryAfterMs(response))
      }
      const answer = await processGenericTokenEndpointResponse(server, client, await withoutIdToken(response))
      return readAnswer(answer, scopes, clock.monotonic() - startedAt)
    } catch (error) {
      throw error instanceof AuthenticationUnavailable ? error : toTokenError(issuer, error)
    }
  }
}

function toForm (scopes: readonly string[], parameters: TokenRequest['parameters']): URLSearchParams {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, value)
  if (scopes.length > 0) form.set('scope', scopes.join(' '))
  return form
}

/** Drops an unread ID token: the library would check it, and refuse the answer for it. */
async function withoutIdToken (response: Response): Promise<Response> {
  if (response.status !== 200) return response
  const body: unknown = await response.clone().json().catch(() => undefined)
  if (typeof body !== 'object' || body === null || !('id_token' in body)) return response
  return Response.json({ ...body, id_token: undefined }, { headers: response.headers })
}

/** Throws for an answer that cannot be used. */
function readAnswer (answer: TokenEndpointResponse, scopes: readonly string[], tookMs: number): IssuedToken {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = answer
  const { token_type: type, issued_token_type: kind } = answer
  if (type !== 'bearer') throw new Error('the token_type of its answer is not Bearer')
  if (kind !== undefined && !ACCESS_TOKEN_TYPES.some((accepted) => accepted === kind)) {
    throw new Error('the issued_token_type of its answer is not that of an access token')
  }
  if (accessToken.length > MAX_TOKEN_CHARS || !BEARER_TOKEN.test(accessToken)) {
    throw new Error('the access_token of its answer is not a bearer token')
  }
  const granted = scope?.split(' ') ?? scopes
  return {
    accessToken,
    lifeMs: Math.min(seconds === undefined ? UNKNOWN_LIFE_MS : seconds * 1000, MAX_LIFE_MS) - tookMs,
    missingScopes: scopes.filter((scopeName) => !granted.includes(scopeName)),
    ...(refreshToken !== undefined && { refreshToken })
  }
}

/** The error of the library has the answer as its cause, so it is not passed on. */
function toTokenError (issuer: string, error: unknown): Error {
  const answer = `${issuer} gives no token`
  if (!(error instanceof ResponseBodyError)) {
    return new AuthenticationUnavailable(`${answer}: ${reasonOf(error)}`)
  }
  const code = error.error
  if (CLIENT_ERRORS.includes(code)) {
    return new AuthenticationUnavailable(`${answer}: ${code}. Check the client of this service there`)
  }
  if (FAULTS.includes(code)) return new AuthenticationUnavailable(`${answer}: ${code}`)
  return new TokenRefused(`${answer}: ${REQUEST_ERRORS.includes(code) ? code : 'an error with another code'}`)
}

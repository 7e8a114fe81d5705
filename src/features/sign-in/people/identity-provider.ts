// The identity provider of the company: sends people there, and takes them back. OpenID Connect Core 1.0.

import { ResponseBodyError, type AuthorizationServer } from 'oauth4webapi'
import type {
  Configuration, CustomFetch, TokenEndpointResponse, TokenEndpointResponseHelpers
} from 'openid-client'
import { clock } from '../../../base/time.ts'
import { clip, toPlain } from '../../../base/words.ts'
import { AuthenticationUnavailable, reasonOf } from '../../../platform/access/authentication.ts'
import { openIssuer } from '../../../platform/access/authorization-servers.ts'
import {
  createClientAuthentication, type ClientCredentials
} from '../../../platform/access/client-authentication.ts'
import { readClaim, type Claims } from '../../../platform/access/claims.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'

export interface IdentityProviderOptions {
  readonly issuer: string
  readonly client: ClientCredentials
  /** Where the provider sends people back to. */
  readonly redirectUri: string
  /** More scopes to ask for than those of each provider. */
  readonly scopes: readonly string[]
  /** More parameters of the request that sends a person to the provider. */
  readonly params: { readonly [name: string]: string }
  /** The claims that rules read. */
  readonly claimNames: readonly string[]
  /** Whether the provider has to be asked for claims that its ID token lacks. */
  readonly hasUserInfo: boolean
}

/** What one way to the provider and back must have in common. */
export interface Passage {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
}

export interface ProviderTokens {
  readonly accessToken: string
  readonly refreshToken?: string
  /** In milliseconds since the epoch. */
  readonly expiresAt?: number
}

export interface VouchedClaims {
  /** The claims that the provider vouches for. */
  readonly claims: Claims
  /** The names of claims that no ID token had. */
  readonly askedNames?: readonly string[]
}

export interface SignedInPerson extends VouchedClaims { readonly tokens: ProviderTokens }

export interface RenewedTokens {
  /** A refresh token among them may be the only one that counts now. */
  readonly tokens: ProviderTokens
  /** Reads or asks who the person is. Rejects as `renew` does. */
  identify (): Promise<VouchedClaims>
}

/** The provider vouches for nobody: it has refused the sign-in, or its answer is not for this one. */
export class SignInRefused extends Error {
  constructor (reason: string) { super(clip(toPlain(reason))) }
}

/** Errors of a token endpoint that are about the person. RFC 6749, section 5.2; OpenID Connect Core. */
const REFUSALS = [
  'invalid_grant', 'access_denied', 'interaction_required', 'login_required', 'consent_required'
]

/** The codes of an answer that is one to another request, or of another issuer. */
const MISMATCHES = new Set(['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'])

export type IdentityProvider = ReturnType<typeof createIdentityProvider>

const SCOPES = ['openid', 'profile', 'email']
/** The issuer in this metadata has a place for the tenant, which the library fills in for each ID token. */
const MANY_TENANTS = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)\/v2\.0$/

export function createIdentityProvider (
  { issuer, client, redirectUri, scopes, params, claimNames, hasUserInfo }: IdentityProviderOptions
) {
  const { fetch, readMetadata } = openIssuer(issuer)
  const authentication = createClientAuthentication(client)

  let latest: { readonly metadata: AuthorizationServer, readonly config: Configuration } | undefined
  let manyTenants: Configuration | undefined

  const send: CustomFetch = async (url, { method, headers, body }) => {
    return await fetch(url, { method, headers, body: body instanceof URLSearchParams ? body : undefined })
  }

  async function open () {
    const library = await import('openid-client')
    if (MANY_TENANTS.test(issuer)) {
      manyTenants ??= await library.discovery(
        new URL(issuer), client.clientId, {}, authentication, { [library.customFetch]: send }
      ).catch(failIdentity)
      return { library, config: manyTenants }
    }
    const metadata = await readMetadata()
    if (latest?.metadata !== metadata) {
      const config = new library.Configuration(metadata, client.clientId, {}, authentication)
      config[library.customFetch] = send
      // The address of the provider was checked when the settings were read.
      if (issuer.startsWith('http:')) library.allowInsecureRequests(config)
      latest = { metadata, config }
    }
    return { library, config: latest.config }
  }

  function failIdentity (error: unknown): never {
    throw new AuthenticationUnavailable(`${issuer} gives no identity: ${reasonOf(error)}`)
  }

  /** @param isNew whether the claims of the ID token are of now. Newer claims win over old ones. */
  async function addUserInfo (accessToken: string, claims: Claims, isNew = true): Promise<VouchedClaims> {
    const { library, config } = await open()
    const asksMore = hasUserInfo && config.serverMetadata().userinfo_endpoint !== undefined &&
      claimNames.some((name) => !isNew || readClaim(claims, name) === undefined)
    if (!asksMore) return { claims }
    const userInfo = await library.fetchUserInfo(config, accessToken, String(claims['sub']))
      .catch((error: unknown) => {
        // A server that refuses has no more claims for this service.
        if (!isRefusal(error)) throw error
      })
    const askedNames = Object.keys(userInfo ?? {}).filter((name) => !Object.hasOwn(claims, name))
    return { claims: isNew ? { ...userInfo, ...claims } : { ...claims, ...userInfo }, askedNames }
  }

  return {
    issuer,
    /** Returns the URL that the person visits. */
    async begin ({ state, nonce, codeVerifier }: Passage): Promise<string> {
      const { library, config } = await open()
      const { scopes_supported: supported = [] } = config.serverMetadata()
      const offline = supported.filter((scope) => scope === 'offline_access')
      return library.buildAuthorizationUrl(config, {
        ...params,
        redirect_uri: redirectUri,
        scope: [...SCOPES, ...offline, ...scopes].join(' '),
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256'
      }).href
    },

    /**
     * Redeems the answer of the provider. Rejects with a SignInRefused, or with an AuthenticationUnavailable.
     * @param query of the URL that the person came back to.
     */
    async end (query: string, { state, nonce, codeVerifier }: Passage): Promise<SignedInPerson> {
      const { library, config } = await open()
      try {
        const answer = await library.authorizationCodeGrant(config, new URL(query, redirectUri), {
          expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true
        })
        return { ...await addUserInfo(answer.access_token, { ...answer.claims() }), tokens: toTokens(answer) }
      } catch (error) {
        if (error instanceof library.AuthorizationResponseError) throw new SignInRefused(error.error)
        throwRefusal(error)
        if (error instanceof library.ClientError && MISMATCHES.has(String(error.code))) {
          throw new SignInRefused(reasonOf(error))
        }
        return failIdentity(error)
      }
    },

    /**
     * Asks for new tokens. Rejects as `end` does.
     * @param before who the person was until now: a provider need not send another ID token.
     */
    async renew (refreshToken: string, { claims, askedNames = [] }: VouchedClaims): Promise<RenewedTokens> {
      const { library, config } = await open()
      try {
        const answer = await library.refreshTokenGrant(config, refreshToken)
        const latest = answer.claims()
        if (latest !== undefined && latest.sub !== claims['sub']) throw new SignInRefused('another subject')
        const before = Object.entries(claims).filter(([name]) => !askedNames.includes(name))
        return {
          tokens: { refreshToken, ...toTokens(answer) },
          identify: async () => await addUserInfo(
            answer.access_token, latest ?? Object.fromEntries(before), latest !== undefined
          ).catch(failIdentity)
        }
      } catch (error) {
        if (error instanceof SignInRefused) throw error
        throwRefusal(error)
        throw new AuthenticationUnavailable(`${issuer} renews no token: ${reasonOf(error)}`)
      }
    }
  }
}

/** Throws a SignInRefused for an answer of the token endpoint that is about the person. */
function throwRefusal (error: unknown): void {
  if (error instanceof ResponseBodyError && REFUSALS.includes(error.error)) {
    throw new SignInRefused(error.error)
  }
}

/** Errors of the library have the response, or have it as their cause. */
function isRefusal (error: unknown): boolean {
  const { response, cause } = isObject(error) ? error : {}
  const { status } = [response, cause].find((value) => isObject(value)) ?? {}
  return typeof status === 'number' && status >= 400 && status < 500 && status !== 408 && status !== 429
}

function toTokens (
  { access_token: accessToken, refresh_token: refreshToken, expiresIn }:
  TokenEndpointResponse & TokenEndpointResponseHelpers
): ProviderTokens {
  const seconds = expiresIn()
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(seconds !== undefined && { expiresAt: clock.now() + seconds * 1000 })
  }
}

// Two grants of a test's authorization server that oidc-provider lacks: token exchange (RFC 8693) and the
// on-behalf-of form of the JWT bearer grant.

import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import type { JWK, Provider } from 'oidc-provider'
import type { ProviderOptions } from './oidc-provider.ts'

export interface ExchangeSettings {
  readonly form: 'token-exchange' | 'on-behalf-of'
  /** The audiences of exchanged tokens. */
  readonly targets: readonly string[]
  /** Whether a refresh token comes with an exchanged one. On behalf of users, if the scope asks for it. */
  readonly hasRefreshTokens?: boolean
  /** Whether a refresh token counts once. A second use takes back all that came from the exchange. */
  readonly rotates?: boolean
  /** The life of exchanged tokens, in seconds. 300 by default. */
  readonly ttlSeconds?: number
  /** Subjects whose tokens were taken back. */
  readonly revoked?: ReadonlySet<string>
  /** Returns the error code for a subject. */
  readonly refuse?: (subject: string) => string | undefined
  /** Told of each exchange. */
  readonly onExchange?: (subject: string, parameters: Parameters) => void
  /** Told of each token that it gives. */
  readonly onToken?: (token: string) => void
}

interface Parameters {
  readonly grant_type?: string
  readonly subject_token?: string
  readonly subject_token_type?: string
  readonly assertion?: string
  readonly requested_token_use?: string
  readonly audience?: string
  readonly resource?: string
  readonly scope?: string
}

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const PREFIX = 'urn:ietf:params:oauth:grant-type:'
export const EXCHANGE_GRANTS = {
  'token-exchange': `${PREFIX}token-exchange`, 'on-behalf-of': `${PREFIX}jwt-bearer`
}
const PARAMETERS = [
  'subject_token', 'subject_token_type', 'requested_token_type', 'assertion', 'requested_token_use',
  'audience', 'resource', 'scope'
]

/** The grants of Keycloak, Auth0 and Entra, as far as a client can tell. */
export function registerExchange (
  provider: Provider, { issuer, alg, jwks, behavior }: ProviderOptions, settings: ExchangeSettings
): void {
  const isDelegated = settings.form === 'on-behalf-of'
  const keys = createLocalJWKSet({ keys: jwks.keys.map(toPublic) } as JSONWebKeySet)
  const gty = EXCHANGE_GRANTS[settings.form]

  /** Resolves to the subject, or rejects for a token of another issuer or audience. */
  async function readSubject (token: string): Promise<string> {
    const opaque = await provider.AccessToken.find(token)
    if (opaque?.accountId !== undefined) return opaque.accountId
    const { payload } = await jwtVerify(token, keys, {
      issuer, ...(behavior.audience !== undefined && { audience: behavior.audience })
    })
    return String(payload['oid'] ?? payload.sub).replace(/^(?:oid-|auth0\|)/, '')
  }

  provider.registerGrantType<Parameters>(gty, async (ctx) => {
    const { client, params } = ctx.oidc
    const fail = (error: string) => {
      ctx.status = 400
      ctx.body = { error, error_description: `no token for ${params.subject_token ?? params.assertion}` }
    }
    const isWellFormed = isDelegated
      ? params.requested_token_use === 'on_behalf_of'
      : params.subject_token_type === ACCESS_TOKEN
    if (!isWellFormed) return fail('invalid_request')
    const subject = await readSubject(params.subject_token ?? params.assertion ?? '').catch(() => undefined)
    if (subject === undefined || settings.revoked?.has(subject)) return fail('invalid_grant')
    settings.onExchange?.(subject, params)
    const refusal = settings.refuse?.(subject)
    if (refusal !== undefined) return fail(refusal)

    const asked = (params.scope ?? '').split(' ').filter((scope) => scope !== '')
    const target = isDelegated
      ? settings.targets.find((one) => asked.some((scope) => scope.startsWith(`${one}/`)))
      : params.audience ?? params.resource
    if (target === undefined || !settings.targets.includes(target)) return fail('invalid_target')
    // The default scope stands for all that an administrator has granted.
    const scope = isDelegated
      ? `${target}/Crm.Read`
      : asked.filter((name) => name !== 'crm:secret').join(' ')
    const grant = new provider.Grant({ accountId: subject, clientId: client.clientId })
    grant.addResourceScope(target, scope)
    const grantId = await grant.save()
    const own = { accountId: subject, client, grantId, gty, scope }
    const access = new provider.AccessToken(own)
    access.resourceServer = new provider.ResourceServer(target, {
      scope,
      audience: target,
      accessTokenTTL: settings.ttlSeconds ?? 300,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: alg as 'RS256' } }
    })
    const hasRefreshToken = settings.hasRefreshTokens && (!isDelegated || asked.includes('offline_access'))
    const refresh = hasRefreshToken && await new provider.RefreshToken({
      ...own, resource: target, rotations: 0, iiat: Math.floor(Date.now() / 1000)
    }).save()
    const accessToken = await access.save()
    for (const token of [accessToken, refresh]) if (typeof token === 'string') settings.onToken?.(token)
    ctx.body = {
      access_token: accessToken,
      expires_in: settings.ttlSeconds ?? 300,
      token_type: 'Bearer',
      scope,
      ...(!isDelegated && { issued_token_type: ACCESS_TOKEN }),
      ...(refresh !== undefined && refresh !== false && { refresh_token: refresh })
    }
  }, PARAMETERS)
}

function toPublic ({ d, ...key }: JWK): JWK {
  return key as JWK
}

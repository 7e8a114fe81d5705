// Builds oidc-provider for tests, without its warnings.

import type {
  Adapter, AdapterPayload, Configuration, JWKS, Provider as ProviderInstance
} from 'oidc-provider'
import { registerExchange, type ExchangeSettings } from './exchange-grants.ts'
import type { ProviderBehavior } from './provider-behaviors.ts'

export interface ProviderOptions {
  readonly issuer: string
  readonly behavior: ProviderBehavior
  readonly alg: string
  readonly jwks: JWKS
  readonly format: 'jwt' | 'opaque'
  readonly scopes: readonly string[]
  readonly tokenTtlSeconds: number
  /** The claims of a user that the behavior does not have. */
  readonly claimsOf: (user: string) => Readonly<Record<string, unknown>>
  readonly clients: NonNullable<Configuration['clients']>
  /** Absent: the provider exchanges no tokens. */
  readonly exchange: ExchangeSettings | undefined
  readonly issuesRefreshTokens?: boolean | undefined
  /** Told of the tokens of each sign-in and refresh. */
  readonly onTokens?: ((tokens: readonly string[]) => void) | undefined
  /** What the provider keeps: codes, grants, opaque tokens, registered clients. */
  readonly records: Map<string, AdapterPayload>
}

const DAY = 86_400
/** The claims that an ID token or the userinfo endpoint may have. */
const CLAIMS = [
  'azp', 'hd', 'oid', 'tid', 'ver', 'nickname', 'preferred_username', 'typ',
  'groups', 'realm_access', 'roles', '_claim_names'
]

export async function buildProvider (options: ProviderOptions): Promise<ProviderInstance> {
  silence()
  // Its first line warns of the version of Node, so it is imported late.
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(options.issuer, toConfiguration(options))
  // Tokens are asked for with http.
  provider.proxy = true
  const { onTokens } = options
  if (onTokens !== undefined) provider.on('grant.success', ({ body }) => onTokens(readTokens(body)))
  if (options.exchange !== undefined) registerExchange(provider, options, options.exchange)
  return provider
}

function toConfiguration (
  {
    behavior, alg, jwks, format, scopes, tokenTtlSeconds, claimsOf, clients, exchange, records, ...settings
  }: ProviderOptions
): Configuration {
  const readClaims = (id: string) => ({ sub: id, ...behavior.idClaims(id), ...claimsOf(id) })
  const { issuesRefreshTokens = true } = settings
  return {
    adapter: (model) => createAdapter(model, records),
    jwks,
    clients,
    clientDefaults: { id_token_signed_response_alg: alg as 'RS256', application_type: 'native' },
    scopes: ['openid', ...behavior.lacksOfflineAccess ? [] : ['offline_access'], ...scopes],
    claims: { openid: ['sub'], profile: CLAIMS, email: ['email', 'email_verified'] },
    conformIdTokenClaims: behavior.hasThinIdTokens === true,
    cookies: { keys: ['the secret of a test'] },
    findAccount: (_, id) => ({ accountId: id, claims: () => readClaims(id) }),
    ...(exchange?.rotates !== undefined && { rotateRefreshToken: exchange.rotates }),
    issueRefreshToken: (_, client) => issuesRefreshTokens && client.grantTypeAllowed('refresh_token'),
    ttl: {
      AccessToken: tokenTtlSeconds,
      ClientCredentials: tokenTtlSeconds,
      Grant: DAY,
      IdToken: DAY,
      Interaction: DAY,
      RefreshToken: DAY,
      Session: DAY
    },
    formats: { customizers: { jwt: (_, token, jwt) => behavior.shape(jwt, token) } },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      introspection: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        // A client that names no resource gets tokens for the audience that the provider is set up for.
        defaultResource: (_, __, asked) => {
          if (asked?.length) return asked
          return behavior.hasOpaqueTokens ? [] : 'urn:trivet:default'
        },
        getResourceServerInfo: (_, resource) => ({
          scope: scopes.join(' '),
          audience: exchange?.targets.includes(resource) ? resource : behavior.audience ?? resource,
          accessTokenTTL: tokenTtlSeconds,
          accessTokenFormat: format,
          jwt: { sign: { alg: alg as 'RS256' } }
        })
      }
    }
  }
}

function readTokens (body: unknown): string[] {
  const names = ['access_token', 'refresh_token', 'id_token']
  return Object.entries(Object(body)).flatMap(([name, value]) => names.includes(name) ? [String(value)] : [])
}

function createAdapter (model: string, records: Map<string, AdapterPayload>): Adapter {
  const nameOf = (id: string) => `${model}:${id}`
  const findBy = async (test: (payload: AdapterPayload) => boolean) => [...records].find(
    ([name, payload]) => name.startsWith(`${model}:`) && test(payload)
  )?.[1]
  return {
    upsert: async (id, payload) => { records.set(nameOf(id), payload) },
    find: async (id) => records.get(nameOf(id)),
    findByUid: async (uid) => await findBy((payload) => payload.uid === uid),
    findByUserCode: async (code) => await findBy((payload) => payload.userCode === code),
    async consume (id) {
      const payload = records.get(nameOf(id))
      if (payload !== undefined) payload.consumed = true
    },
    destroy: async (id) => { records.delete(nameOf(id)) },
    async revokeByGrantId (grantId) {
      for (const [name, payload] of records) if (payload.grantId === grantId) records.delete(name)
    }
  }
}

let isSilent = false

/** Drops the lines that oidc-provider prints: a test's output is its result. */
function silence (): void {
  if (isSilent) return
  isSilent = true
  for (const method of ['info', 'warn'] as const) {
    const print = console[method]
    console[method] = (...words: unknown[]) => {
      if (!String(words[0]).includes('oidc-provider ')) print(...words)
    }
  }
}

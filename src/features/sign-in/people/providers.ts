// The identity providers that are known by name, and what differs between them.

import type { ExchangeForm } from '../../../platform/access/token-rules.ts'
import { createGithub } from './github.ts'
import {
  createIdentityProvider, type IdentityProvider, type IdentityProviderOptions
} from './identity-provider.ts'
import type { ClaimRule } from './people.ts'

interface ProviderPreset {
  readonly create: (options: IdentityProviderOptions) => IdentityProvider
  /** The claims whose values together tell a person from all others of the issuer. `sub` by default. */
  readonly subjectClaims?: readonly string[]
  /** The scopes that are asked for beside those of OpenID Connect. */
  readonly scopesFor?: (clientId: string) => readonly string[]
  /** Parameters of the request that sends a person to the provider. */
  readonly params?: { readonly [name: string]: string }
  /** The parameter that says which service the access token is for. Absent: the provider knows none. */
  readonly audienceParam?: 'audience' | 'resource'
  /** Whether more claims can be asked for with the access token. They can by default. */
  readonly hasUserInfo?: false
  /** How it exchanges tokens. `token-exchange` by default. */
  readonly exchange?: ExchangeForm
  /** The claims that say to which company or group a person belongs. Anybody may have an account. */
  readonly memberClaims?: readonly string[]
}

export const PROVIDER_NAMES = ['oidc', 'entra', 'google', 'okta', 'auth0', 'keycloak', 'github'] as const

export type ProviderName = typeof PROVIDER_NAMES[number]

export const PROVIDERS: { readonly [name in ProviderName]: ProviderPreset } = {
  oidc: { create: createIdentityProvider, audienceParam: 'resource' },
  /**
   * `sub` differs for each application. The access token is for the service itself, so that it can be
   * exchanged; without that scope it is for Microsoft Graph, and nobody else can read it.
   */
  entra: {
    create: createIdentityProvider,
    subjectClaims: ['tid', 'oid'],
    scopesFor: (clientId) => [`${clientId}/.default`],
    hasUserInfo: false,
    exchange: 'on-behalf-of',
    memberClaims: ['tid']
  },
  /** There is no scope `offline_access`. Only a consent gives a refresh token. */
  google: {
    create: createIdentityProvider,
    params: { access_type: 'offline', prompt: 'consent' },
    memberClaims: ['hd', 'sub']
  },
  okta: { create: createIdentityProvider },
  auth0: { create: createIdentityProvider, audienceParam: 'audience' },
  keycloak: { create: createIdentityProvider },
  github: {
    create: createGithub, memberClaims: ['organizations', 'organization_ids', 'teams', 'sub']
  }
}

/** The hosts of which it is sure. */
const HOSTS: ReadonlyArray<readonly [host: RegExp, name: ProviderName]> = [
  [/^(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)$/, 'entra'],
  [/^accounts\.google\.com$/, 'google'],
  [/\.okta(?:preview|-emea)?\.com$/, 'okta'],
  [/\.auth0\.com$/, 'auth0'],
  [/^github\.com$/, 'github']
]

/** Returns `undefined` if the issuer may be any provider. */
export function recognizeProvider (issuer: string): ProviderName | undefined {
  const { hostname } = new URL(issuer)
  return HOSTS.find(([host]) => host.test(hostname))?.[1]
}

/** The tenant of all personal accounts. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'
const TENANT = /^\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/|$)/i
/** Providers without a preset where anybody may have an account. */
const OPEN_HOSTS = new RegExp(`^(?:${[
  'gitlab.com', 'appleid.apple.com', 'account.apple.com', 'slack.com', 'id.twitch.tv', 'login.live.com',
  '(?:www.|m.|limited.)?facebook.com', '(?:www.)?linkedin.com', '(?:api.)?login.yahoo.com',
  '(?:login|test).salesforce.com', 'discord.com'
].join('|').replaceAll('.', '\\.')})$`)

/** Returns what is wrong if everybody who has an account anywhere would come in. */
export function findOpenDoor (
  issuer: string, name: ProviderName, admit: readonly ClaimRule[]
): string | undefined {
  const { hostname, pathname } = new URL(issuer)
  const { memberClaims } = PROVIDERS[name]
  const tenant = TENANT.exec(pathname)?.[1]?.toLowerCase()
  if (name === 'entra' && tenant !== undefined && tenant !== CONSUMERS) return undefined
  const claims = memberClaims ?? (OPEN_HOSTS.test(hostname) ? admit.map(({ claim }) => claim) : undefined)
  if (claims === undefined || admit.some(({ claim }) => claims.includes(claim))) return undefined
  const claim = claims.length === 0 ? '' : ` for the claim ${claims.join(' or ')}`
  return `must have a rule${claim}: without it everybody who has an account at ${hostname} would come in`
}

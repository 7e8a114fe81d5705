// What the engine is told once: what it offers, and to whom. OpenID Connect, and all that no client of MCP
// needs, is off.

import { errors, interactionPolicy, type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import type { SigningKeys } from '../../../platform/store/sealing/signing-keys.ts'
import type { SignInFile } from '../people/sign-in-file.ts'
import {
  AUTH_ALGORITHMS, AUTH_METHODS, BASE_SCOPE, BEGINS_AGAIN, CONSENT_PATH, ENGINE_ROUTES, FLOW_SECONDS
} from './metadata.ts'
import { checkRedirects } from './redirects.ts'

export interface ConfigurationOptions {
  readonly issuer: string
  /** The endpoint, for which tokens are. */
  readonly resource: string
  readonly file: Pick<SignInFile, 'rules' | 'clients' | 'times'>
  readonly keys: Pick<SigningKeys, 'all'>
  readonly sealer: Pick<Sealer, 'derive'>
}

/** What the engine asks the service when it needs it. */
interface EngineHooks extends Pick<
  Configuration, 'adapter' | 'fetch' | 'findAccount' | 'loadExistingGrant' | 'renderError'
> {
  readonly idFactory: (ctx: KoaContextWithOIDC) => string
  readonly allowFetch: (ctx: KoaContextWithOIDC | undefined, id: string) => Promise<boolean>
}

/** Another replica's clock may differ. The store keeps a code for a shorter time. */
const CODE_SECONDS = 180
/** The draft of metadata documents that this engine implements. Another one must be looked at. */
const DOCUMENTS_DRAFT = 'draft-02'
/** How long a document counts, whatever its headers say. In seconds. */
const DOCUMENT_AGE = { min: 30, max: 3600 }
const OFF = { enabled: false }

export function toConfiguration (
  { issuer, resource, file: { rules, clients, times }, keys, sealer }: ConfigurationOptions,
  { idFactory, allowFetch, ...hooks }: EngineHooks
): Configuration {
  return {
    ...hooks,
    jwks: {
      keys: keys.all.map(({ privateKey, publicKey }) => ({
        ...privateKey.export({ format: 'jwk' }), ...publicKey
      }))
    },
    routes: ENGINE_ROUTES,
    scopes: [BASE_SCOPE, 'offline_access'],
    responseTypes: ['code'],
    clientAuthMethods: [...AUTH_METHODS],
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256'
    },
    extraClientMetadata: {
      properties: ['redirect_uris'], validator: (_ctx, _name, uris) => checkRedirects(uris)
    },
    enabledJWA: { clientAuthSigningAlgValues: [...AUTH_ALGORITHMS] },
    pkce: { required: () => true },
    cookies: toCookies(resource, sealer),
    interactions: toInteractions(issuer),
    expiresWithSession: () => false,
    extraParams: [BEGINS_AGAIN],
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    clientBasedCORS: ({ oidc }) => oidc.route === 'token',
    extraTokenClaims: (_, token) => ({ grant: 'grantId' in token ? token.grantId : undefined }),
    ttl: {
      AccessToken: times.accessTokenSeconds,
      AuthorizationCode: CODE_SECONDS,
      Grant: times.grantSeconds,
      IdToken: CODE_SECONDS,
      Interaction: FLOW_SECONDS,
      RefreshToken: times.refreshTokenSeconds,
      Session: CODE_SECONDS
    },
    features: {
      clientIdMetadataDocument: {
        enabled: true, ack: DOCUMENTS_DRAFT, cacheDuration: DOCUMENT_AGE, allowFetch
      },
      devInteractions: OFF,
      dPoP: OFF,
      pushedAuthorizationRequests: OFF,
      registration: { enabled: clients.registration, idFactory, issueRegistrationAccessToken: false },
      // A token of another client stays.
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: OFF,
      userinfo: OFF,
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo (_, indicator) {
          if (indicator !== resource) throw new errors.InvalidTarget()
          return {
            scope: Object.keys(rules.scopes).join(' '),
            audience: resource,
            accessTokenTTL: times.accessTokenSeconds,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } }
          }
        }
      }
    }
  }
}

function toCookies (
  resource: string, sealer: ConfigurationOptions['sealer']
): NonNullable<Configuration['cookies']> {
  const secure = resource.startsWith('https:')
  const toName = (name: string) => `${secure ? '__Secure-' : ''}sign-in-${name}`
  const cookie = { httpOnly: true, sameSite: 'lax', secure, overwrite: true, signed: true } as const
  return {
    keys: sealer.derive('sign-in cookies', 32).map((key) => key.toString('base64url')),
    names: { session: toName('session'), interaction: toName('flow'), resume: toName('resume') },
    short: cookie,
    long: cookie
  }
}

/** Each flow asks for the consent and then for the sign-in, on one page, whatever its `prompt` is. */
function toInteractions (issuer: string): NonNullable<Configuration['interactions']> {
  const { Check, Prompt } = interactionPolicy
  const base = new URL(issuer).pathname.replace(/\/$/, '')
  const first = new Check('no_sign_in', 'nobody has signed in', ({ oidc }) => oidc.result === undefined)
  const toPrompt = (name: string) => new Prompt({ name, requestable: true }, first)
  return {
    policy: ['login', 'consent', 'select_account'].map(toPrompt),
    url: (_, { uid }) => `${base}${CONSENT_PATH}/${uid}`
  }
}

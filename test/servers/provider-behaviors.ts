// How the tokens of well-known identity providers differ from those of oidc-provider, which follow RFC 9068.

import type { AccessToken, ClientCredentials, JWTStructured } from 'oidc-provider'

export interface ProviderBehavior {
  /** The path of the issuer. */
  readonly path: string
  /** Whether there is metadata at the place of RFC 8414. That of OpenID Connect is always there. */
  readonly hasOAuthMetadata: boolean
  /** The `aud` of access tokens. Absent: the `resource` that the client asked for. */
  readonly audience?: string
  /** The claims of an ID token, beside those of the test. */
  readonly idClaims: (user: string) => Readonly<Record<string, unknown>>
  /** Whether an ID token has only `sub`. The userinfo endpoint has all: OpenID Connect Core, section 5.4. */
  readonly hasThinIdTokens?: true
  /** Whether an access token for no other service is opaque. Clients get JWTs for one by default. */
  readonly hasOpaqueTokens?: true
  /** Whether there is no scope `offline_access`. */
  readonly lacksOfflineAccess?: true
  /** Changes an access token before it is signed. */
  readonly shape: (jwt: JWTStructured, token: AccessToken | ClientCredentials) => void
}

export type ProviderName = 'standard' | 'thin' | 'entra' | 'auth0' | 'keycloak' | 'okta' | 'google'

/** The tenant of `entra`. */
export const TENANT = '11111111-2222-3333-4444-555555555555'

export const BEHAVIORS: { readonly [name in ProviderName]: ProviderBehavior } = {
  standard: { path: '', hasOAuthMetadata: true, idClaims: () => ({}), shape: () => {} },
  thin: {
    path: '',
    hasOAuthMetadata: true,
    idClaims: () => ({}),
    hasThinIdTokens: true,
    hasOpaqueTokens: true,
    shape: () => {}
  },
  /** `api://` audiences, `scp` for users and `roles` for applications, a `sub` for each application. */
  entra: {
    path: `/${TENANT}/v2.0`,
    hasOAuthMetadata: false,
    audience: 'api://books',
    idClaims: (user) => ({
      oid: `oid-${user}`, tid: TENANT, ver: '2.0', preferred_username: `${user}@books.example`
    }),
    shape (jwt, token) {
      const { scope = '', client_id: azp, sub, ...rest } = jwt.payload
      const granted = isUser(token) ? { scp: scope } : { roles: String(scope).split(' ') }
      jwt.header = { typ: 'JWT' }
      jwt.payload = { ...rest, ...granted, azp, oid: `oid-${sub}`, sub: `pairwise-${sub}`, ver: '2.0' }
    }
  },
  /** The issuer ends with a slash, and a user's token is also for the userinfo endpoint. */
  auth0: {
    path: '/',
    hasOAuthMetadata: true,
    audience: 'https://books.example/api',
    idClaims: (user) => ({ nickname: user }),
    shape (jwt, token) {
      const { client_id: azp, sub, aud, iss, ...rest } = jwt.payload
      jwt.header = { typ: 'JWT' }
      jwt.payload = {
        ...rest,
        iss,
        azp,
        aud: isUser(token) ? [aud, `${iss}userinfo`] : aud,
        sub: isUser(token) ? `auth0|${sub}` : `${azp}@clients`,
        permissions: ['shelves:read']
      }
    }
  },
  /** The type of a token is in its claims; an audience mapper sets `aud`. */
  keycloak: {
    path: '/realms/books',
    hasOAuthMetadata: true,
    audience: 'books-api',
    idClaims: (user) => ({ preferred_username: user, email_verified: false, typ: 'ID' }),
    shape (jwt) {
      const { client_id: azp, ...rest } = jwt.payload
      jwt.header = { typ: 'JWT' }
      jwt.payload = { ...rest, azp, typ: 'Bearer', realm_access: { roles: ['librarian'] } }
    }
  },
  /** No `typ`, scopes as a list, `sub` is the login. */
  okta: {
    path: '/oauth2/default',
    hasOAuthMetadata: true,
    audience: 'api://default',
    idClaims: (user) => ({ preferred_username: `${user}@books.example`, ver: 1 }),
    shape (jwt, token) {
      const { scope = '', client_id: cid, sub, ...rest } = jwt.payload
      const user = isUser(token) && { uid: `00u-${sub}`, sub: `${sub}@books.example` }
      jwt.header = { typ: undefined }
      jwt.payload = { ...rest, sub: cid, ...user, scp: String(scope).split(' '), cid, ver: 1 }
    }
  },
  /** Access tokens are opaque. Only people of a Workspace have `hd`, the domain. */
  google: {
    path: '',
    hasOAuthMetadata: false,
    hasOpaqueTokens: true,
    lacksOfflineAccess: true,
    idClaims: (user) => ({
      azp: 'trivet',
      email: user.includes('@') ? user : `${user}@gmail.com`,
      email_verified: true,
      ...(user.includes('@') && { hd: user.slice(user.indexOf('@') + 1) })
    }),
    shape: () => {}
  }
}

function isUser (token: AccessToken | ClientCredentials): boolean {
  return token.kind === 'AccessToken'
}

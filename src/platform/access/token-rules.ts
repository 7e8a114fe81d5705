// Which tokens count: their audiences, the leeway of their times, and the claims in which identity providers
// put the subject, the client and the scopes.

/** How much the clocks of two machines may differ without a token being refused, in milliseconds. */
export const CLOCK_LEEWAY_MS = 30_000

/** A claim is a name, or a path such as `realm_access.roles`. A claim whose name is the whole text wins. */
export interface TokenRules {
  /**
   * The claims with the granted scopes. A claim is a text of scopes with spaces between, or a list. The
   * scopes of all claims are joined.
   */
  readonly scopeClaims: readonly string[]
  /** The claims that may have the subject, in order. The first that the token has counts. */
  readonly subjectClaims: readonly string[]
  /** The claims that may have the client's id, in order. The first that the token has counts. */
  readonly clientClaims: readonly string[]
  /** The accepted `typ` headers of a JWT, in lower case without `application/`. `none`: it may be absent. */
  readonly tokenTypes: readonly string[]
  /** Claims that must have one of these values, if the token has them. */
  readonly fixedClaims?: { readonly [claim: string]: readonly string[] }
  /** Every access token has one of these claims, and no ID token has any. */
  readonly accessClaims?: readonly string[]
  /** Whether ID tokens count. They do not by default. */
  readonly takesIdTokens?: boolean
  /** How the issuer exchanges a token. `token-exchange`, RFC 8693, by default. */
  readonly exchange?: ExchangeForm
}

/** `on-behalf-of` is a JWT bearer grant (RFC 7523) with `requested_token_use`. It has no audience. */
export type ExchangeForm = 'token-exchange' | 'on-behalf-of'

/** The rules of well-known identity providers. */
export const PRESETS = {
  /** RFC 9068. */
  standard: {
    scopeClaims: ['scope'],
    subjectClaims: ['sub'],
    clientClaims: ['client_id'],
    tokenTypes: ['at+jwt']
  },
  /**
   * `scp` has the permissions that a user delegates, `roles` those of an application and the app roles
   * of a user. `sub` differs for each application, `oid` is the user's in the whole tenant. Tokens of version
   * 1.0 have `appid`, those of version 2.0 `azp`; ID tokens, which may have the same audience, have neither.
   */
  entra: {
    scopeClaims: ['scp', 'roles'],
    subjectClaims: ['oid', 'sub'],
    clientClaims: ['azp', 'appid'],
    tokenTypes: ['jwt'],
    accessClaims: ['azp', 'appid'],
    exchange: 'on-behalf-of'
  },
  /** The default token profile has `JWT` and `azp`, the profile of RFC 9068 `at+jwt` and `client_id`. */
  auth0: {
    scopeClaims: ['scope', 'permissions'],
    subjectClaims: ['sub'],
    clientClaims: ['azp', 'client_id'],
    tokenTypes: ['jwt', 'at+jwt']
  },
  /** The claim `typ` tells access tokens from the other tokens, which have the same header. */
  keycloak: {
    scopeClaims: ['scope', 'realm_access.roles'],
    subjectClaims: ['sub'],
    clientClaims: ['azp', 'client_id'],
    tokenTypes: ['jwt', 'at+jwt'],
    fixedClaims: { typ: ['Bearer'] }
  },
  /**
   * Custom authorization servers write no `typ`. `sub` is the user's login, which can change. A client's own
   * tokens have no `uid`.
   */
  okta: {
    scopeClaims: ['scp'],
    subjectClaims: ['uid', 'sub'],
    clientClaims: ['cid'],
    tokenTypes: ['none', 'jwt']
  },
  /** Access tokens are opaque, so clients send ID tokens. These have a client as audience, and no scopes. */
  google: {
    scopeClaims: [],
    subjectClaims: ['sub'],
    clientClaims: ['azp', 'aud'],
    tokenTypes: ['jwt'],
    takesIdTokens: true
  }
} satisfies { readonly [name: string]: TokenRules }

/** An audience that tokens must have: a name of this service at its authorization servers. */
export interface AcceptedAudience {
  /** The issuer whose tokens may have it. Absent: all issuers that have no audience of their own. */
  readonly issuer?: string
  readonly audience: string
}

/** Throws a TypeError if the issuer has none. */
export function audiencesOf (issuer: string, accepted: readonly AcceptedAudience[]): string[] {
  const ofIssuer = accepted.filter((entry) => entry.issuer === issuer)
  const entries = ofIssuer.length > 0 ? ofIssuer : accepted.filter((entry) => entry.issuer === undefined)
  if (entries.length === 0) throw new TypeError(`no audience is accepted from ${issuer}`)
  return entries.map(({ audience }) => audience)
}

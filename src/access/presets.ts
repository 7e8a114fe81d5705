// The rules for the tokens of well-known identity providers.

import type { TokenRules } from './token-rules.ts'

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
   * 1.0 have `appid`, those of version 2.0 `azp`.
   */
  entra: {
    scopeClaims: ['scp', 'roles'],
    subjectClaims: ['oid', 'sub'],
    clientClaims: ['azp', 'appid'],
    tokenTypes: ['jwt']
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
    tokenTypes: ['jwt']
  }
} satisfies { readonly [name: string]: TokenRules }

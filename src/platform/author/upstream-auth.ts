// How calls of an upstream say who calls.

/** A text, or a function of the settings that the upstream names. */
export type FromSettings<V> = string | ((settings: V) => string)

/** No identity: the upstream serves everyone who reaches it. */
export interface NoAuth { readonly type: 'none' }

/** A secret that this service and the upstream share. */
export interface SecretAuth<V> {
  readonly type: 'secret'
  /** The header with the secret, such as `x-key`. `authorization` by default. */
  readonly header?: string
  /** The value of the header. It begins with the scheme, such as `Bearer`, where the upstream expects one. */
  readonly value: FromSettings<V>
}

/** The user name and the password of this service, by HTTP Basic. RFC 7617. */
export interface BasicAuth<V> {
  readonly type: 'basic'
  readonly user: FromSettings<V>
  readonly password: FromSettings<V>
}

/**
 * A token of this service, by client credentials (RFC 6749, section 4.4). It is kept until shortly before it
 * expires.
 */
export interface ServiceAuth<V> {
  readonly type: 'service'
  /** The issuer of the token. The first of TRIVET_AUTH_ISSUERS by default. */
  readonly issuer?: FromSettings<V>
  /** The id of this service there. TRIVET_AUTH_CLIENT_ID by default, with its secret or its key. */
  readonly clientId?: FromSettings<V>
  readonly clientSecret?: FromSettings<V>
  readonly audience?: string
  /** A resource indicator: RFC 8707. */
  readonly resource?: string
  readonly scopes?: readonly string[]
}

/**
 * The caller's own token, exchanged at its issuer for one that the upstream accepts (RFC 8693). The caller's
 * token reaches no other server.
 */
export interface ExchangeAuth {
  readonly type: 'exchange'
  readonly audience?: string
  /** A resource indicator: RFC 8707. */
  readonly resource?: string
  readonly scopes?: readonly string[]
  /**
   * Whether a task keeps the exchanged token, sealed, to call the upstream after its request has ended.
   * `false` by default: such a call then fails, and the user must call the tool again.
   */
  readonly keep?: boolean
}

/** Headers that an API of one's own trusts, made of the verified claims of the caller's token. */
export interface ClaimsAuth {
  readonly type: 'claims'
  /** Makes headers, such as `x-user`, from the claims. */
  readonly headers?: (claims: Readonly<Record<string, unknown>>) => Readonly<Record<string, string>>
  /**
   * A JWT of this service as the bearer token. Its key is published under `/.well-known/jwks.json`.
   * `audience` becomes `aud`.
   */
  readonly jwt?: {
    readonly audience: string
    /** Further claims. `sub` is the caller's subject by default, `iss` is the public URL of this service. */
    readonly claims?: (claims: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  }
}

/** How calls of an upstream say who calls. */
export type UpstreamAuth<V = unknown> =
  NoAuth | SecretAuth<V> | BasicAuth<V> | ServiceAuth<V> | ExchangeAuth | ClaimsAuth

// Where identity providers put the facts of an access token.

/**
 * Each claim is a name, or a path such as `realm_access.roles`. A claim whose name is the whole text wins.
 */
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
}

// Where identity providers put the facts of an access token.

export interface TokenRules {
  /**
   * The claims with the granted scopes. Each is a name, or a path such as `realm_access.roles`. A claim is a
   * text of scopes with spaces between, or a list. The scopes of all claims are joined.
   */
  readonly scopeClaims: readonly string[]
  /** The claim with the subject: a name or a path. */
  readonly subjectClaim: string
  /** The claims that may have the client's id, in order. The first that the token has counts. */
  readonly clientClaims: readonly string[]
  /** The accepted `typ` headers of a JWT, in lower case without `application/`. `none`: it may be absent. */
  readonly tokenTypes: readonly string[]
}

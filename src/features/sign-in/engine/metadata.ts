// What clients read about the authorization server: RFC 8414.

import { AUTH_ALGORITHMS, AUTH_METHODS, ENGINE_ROUTES } from './engine.ts'

interface DescribedServer {
  readonly issuer: string
  /** The endpoint, for which tokens are. */
  readonly resource: string
  /** The scopes that a token may have. */
  readonly scopes: readonly string[]
  /** Whether clients may register themselves. */
  readonly hasRegistration: boolean
}

/** Returns the metadata. The engine would also tell what OpenID Connect has, which no client may use here. */
export function toMetadata ({ issuer, resource, scopes, hasRegistration }: DescribedServer) {
  const { authorization, jwks, registration, revocation, token } = ENGINE_ROUTES
  return {
    issuer,
    authorization_endpoint: issuer + authorization,
    token_endpoint: issuer + token,
    ...(hasRegistration && { registration_endpoint: issuer + registration }),
    revocation_endpoint: issuer + revocation,
    jwks_uri: issuer + jwks,
    scopes_supported: [...scopes, 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: AUTH_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: AUTH_ALGORITHMS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [resource]
  }
}

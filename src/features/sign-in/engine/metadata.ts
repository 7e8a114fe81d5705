// What clients read about the authorization server: RFC 8414. The rest of the sign-in finds here where the
// engine is, and what it expects.

import type { SignInFile } from '../people/sign-in-file.ts'

/** Paths below the issuer. */
export const ENGINE_ROUTES = {
  authorization: '/sign-in/authorize',
  jwks: '/sign-in/keys',
  registration: '/sign-in/register',
  revocation: '/sign-in/revoke',
  token: '/sign-in/token'
} as const
export const CONSENT_PATH = '/sign-in/consent'

/** How clients prove who they are at the token endpoint. */
export const AUTH_METHODS = ['none', 'private_key_jwt'] as const
export const AUTH_ALGORITHMS = ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'] as const

/** The engine refuses a flow without any scope. It gets this one, which no token has. */
export const BASE_SCOPE = 'sign-in'
/** A parameter of a flow that was begun again, for the person. */
export const BEGINS_AGAIN = 'begins_again'
/** A flow that is not finished is kept for so long, in seconds. */
export const FLOW_SECONDS = 900

/** Returns the resource for any way to write its URL. Some clients add the slash of an empty path. */
export function toResource (resource: string, text: string): string {
  return URL.parse(text)?.href === new URL(resource).href ? resource : text
}

/**
 * Returns the metadata. The engine would also tell what OpenID Connect has, which no client may use here.
 * @param resource the endpoint, for which tokens are.
 */
export function toMetadata (
  issuer: string, resource: string, { rules, clients }: Pick<SignInFile, 'rules' | 'clients'>
) {
  const { authorization, jwks, registration, revocation, token } = ENGINE_ROUTES
  return {
    issuer,
    authorization_endpoint: issuer + authorization,
    token_endpoint: issuer + token,
    ...(clients.registration && { registration_endpoint: issuer + registration }),
    revocation_endpoint: issuer + revocation,
    jwks_uri: issuer + jwks,
    scopes_supported: [...Object.keys(rules.scopes), 'offline_access'],
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

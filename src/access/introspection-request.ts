// Asks an authorization server about a token. RFC 7662, section 2.1.

import {
  allowInsecureRequests, customFetch, introspectionRequest, processIntrospectionResponse, ResponseBodyError,
  WWWAuthenticateChallengeError, type AuthorizationServer, type IntrospectionResponse
} from 'oauth4webapi'
import { AuthenticationUnavailable } from './authentication-error.ts'
import type { IssuerAccess } from './authorization-servers.ts'
import { readServerUrl } from './bounded-fetch.ts'
import { createClientAuthentication, type ClientCredentials } from './client-authentication.ts'
import { reasonOf } from './error-reason.ts'

/**
 * The result rejects with an AuthenticationUnavailable. Without an endpoint, the metadata of the issuer names
 * it.
 */
export function createIntrospectionRequest (
  { issuer, fetch, readMetadata }: IssuerAccess, endpoint: string | undefined, credentials: ClientCredentials
): (token: string) => Promise<IntrospectionResponse> {
  const fixed = endpoint === undefined
    ? undefined
    : { issuer, introspection_endpoint: readServerUrl(endpoint).href }
  const client = { client_id: credentials.clientId }
  const authenticate = createClientAuthentication(credentials)
  return async (token) => {
    const server = fixed ?? await readMetadata()
    try {
      const response = await introspectionRequest(checkEndpoint(server), client, authenticate, token, {
        [customFetch]: fetch, [allowInsecureRequests]: true
      })
      return await processIntrospectionResponse(server, client, response)
    } catch (error) {
      throw new AuthenticationUnavailable(`${issuer} cannot be asked about tokens: ${toReason(error)}`)
    }
  }
}

function checkEndpoint (server: AuthorizationServer): AuthorizationServer {
  const { introspection_endpoint: endpoint } = server
  if (endpoint === undefined) throw new Error('its metadata has no introspection_endpoint')
  readServerUrl(endpoint)
  return server
}

function toReason (error: unknown): string {
  const isOurs = error instanceof WWWAuthenticateChallengeError || error instanceof ResponseBodyError
  if (!isOurs) return reasonOf(error)
  const code = error instanceof ResponseBodyError ? ` ${error.error}` : ''
  return `it answered with status ${error.status}${code}. Check the credentials of this service`
}

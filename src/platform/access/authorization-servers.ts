// The metadata of authorization servers: RFC 8414 and OpenID Connect Discovery.

import {
  allowInsecureRequests, customFetch, discoveryRequest, OperationProcessingError, processDiscoveryResponse,
  type AuthorizationServer
} from 'oauth4webapi'
import { withCooldown } from '../../base/single-flight.ts'
import { clock } from '../../base/time.ts'
import { AuthenticationUnavailable, reasonOf } from './authentication.ts'
import { createBoundedFetch, FETCH_LIMITS, type Fetch, type FetchLimits } from './bounded-fetch.ts'
import { readEndpointUrl, readServerUrl } from './server-url.ts'

export interface AuthorizationServerOptions {
  readonly limits?: FetchLimits
  /** How long a server that failed is not asked again, in milliseconds. 5000 by default. */
  readonly cooldownMs?: number
  readonly now?: () => number
}

export interface IssuerAccess {
  readonly issuer: string
  readonly fetch: Fetch
  /** Rejects with an AuthenticationUnavailable. The server is asked at the first call. */
  readonly readMetadata: () => Promise<AuthorizationServer>
}

/** Servers may move their endpoints. */
const METADATA_MAX_AGE_MS = 3_600_000
/** The place of RFC 8414, then that of OpenID Connect. */
const FORMS = ['oauth2', 'oidc'] as const

/** Throws a TypeError if the issuer is not a URL that may be asked. */
export function openIssuer (
  issuer: string,
  { limits = FETCH_LIMITS, cooldownMs = 5000, now = clock.now }: AuthorizationServerOptions = {}
): IssuerAccess {
  const url = readServerUrl(issuer)
  if (/[?#]/.test(issuer)) throw new TypeError(`${issuer} is no issuer: it has a query or a fragment`)
  const fetch = createBoundedFetch(limits)
  const ask = withCooldown(async () => await readMetadata(issuer, url, fetch), cooldownMs, now)
  let cached: { readonly metadata: AuthorizationServer, readonly until: number } | undefined
  return {
    issuer,
    fetch,
    async readMetadata () {
      if (cached !== undefined && now() < cached.until) return cached.metadata
      try {
        cached = { metadata: await ask(), until: now() + METADATA_MAX_AGE_MS }
      } catch (error) {
        // Old metadata serves while the server is down: its keys and answers are asked for anyway.
        if (cached === undefined) throw error
      }
      return cached.metadata
    }
  }
}

async function readMetadata (issuer: string, url: URL, fetch: Fetch): Promise<AuthorizationServer> {
  const reasons = new Set<string>()
  for (const algorithm of FORMS) {
    try {
      const options = { algorithm, [customFetch]: fetch, [allowInsecureRequests]: true }
      const metadata = await processDiscoveryResponse(url, await discoveryRequest(url, options))
      if (metadata.issuer === issuer) return metadata
      // The library compares URLs, for which a slash at the end makes no difference. Tokens have the text.
      reasons.add(`the server says that its issuer is ${metadata.issuer}`)
    } catch (error) {
      reasons.add(reasonOf(error))
      // A server that does not answer here does not answer at the other place either.
      if (!(error instanceof OperationProcessingError)) break
    }
  }
  throw new AuthenticationUnavailable(`The metadata of ${issuer} cannot be read: ${[...reasons].join('; ')}`)
}

/** Throws if the metadata lacks the endpoint, or names one that may not be asked. */
export function checkEndpoint (
  server: AuthorizationServer, name: 'introspection_endpoint' | 'token_endpoint'
): AuthorizationServer {
  const endpoint = server[name]
  if (endpoint === undefined) throw new Error(`its metadata has no ${name}`)
  readEndpointUrl(endpoint, server.issuer)
  return server
}

// The metadata of the protected resource: where a client finds the authorization servers. RFC 9728.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery

import type { FastifyInstance, FastifyReply } from 'fastify'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

export interface ResourceMetadataOptions {
  /** The URL of the endpoint for clients: the `resource` of the metadata. Never taken from a request. */
  readonly publicUrl: string
  readonly issuers: readonly string[]
  readonly scopes: readonly string[]
  /** The path of the endpoint in the service. A proxy may serve it at another path. */
  readonly path: string
}

/** The URL of the metadata for the `resource_metadata` of challenges. */
export function metadataUrlOf (publicUrl: string): string {
  const { origin } = new URL(publicUrl)
  return `${origin}${WELL_KNOWN}${pathOf(publicUrl)}`
}

/** Served to everyone, of every origin: a client reads it before it has a token. */
export function registerResourceMetadata (
  app: FastifyInstance, { publicUrl, issuers, scopes, path }: ResourceMetadataOptions
): void {
  const metadata = JSON.stringify({
    resource: publicUrl,
    authorization_servers: issuers,
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes })
  })

  function allowAll (reply: FastifyReply): FastifyReply {
    return reply.header('access-control-allow-origin', '*')
  }

  const paths = new Set([pathOf(publicUrl), path === '/' ? '' : path, ''])
  for (const url of [...paths].map((place) => `${WELL_KNOWN}${place}`)) {
    app.get(url, async (_, reply) => await allowAll(reply)
      .header('content-type', 'application/json').header('cache-control', 'public, max-age=3600')
      .send(metadata))
    // Browsers ask before a request with the header MCP-Protocol-Version.
    app.options(url, async (_, reply) => await allowAll(reply)
      .header('access-control-allow-methods', 'GET').header('access-control-allow-headers', '*')
      .header('access-control-max-age', '600').code(204).send())
  }
}

function pathOf (publicUrl: string): string {
  const { pathname } = new URL(publicUrl)
  return pathname === '/' ? '' : pathname
}

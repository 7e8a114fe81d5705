// The public keys of the JWTs that this service signs, for the upstreams that verify them: RFC 7517.

import type { FastifyInstance } from 'fastify'

const PATH = '/.well-known/jwks.json'

interface SigningKeysOptions {
  /** Returns the set of keys as JSON, or `undefined` while the catalog has no upstream that gets JWTs. */
  readonly readKeys: () => string | undefined
}

/** Served to everyone. An upstream sees a new key after five minutes at most. */
export function registerSigningKeys (app: FastifyInstance, { readKeys }: SigningKeysOptions): void {
  app.get(PATH, async (_, reply) => {
    const keys = readKeys()
    if (keys === undefined) return reply.callNotFound()
    return await reply.header('content-type', 'application/jwk-set+json')
      .header('cache-control', 'public, max-age=300').send(keys)
  })
}

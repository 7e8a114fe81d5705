// Finds out which revisions a service speaks.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning

import { CURRENT_REVISION } from '../../../platform/protocol/revisions.ts'
import type { Reply } from '../../testing/exchange.ts'
import { ConnectionError } from './connection-error.ts'
import { Endpoint, type EndpointOptions } from './endpoint.ts'
import { openLegacyService } from './legacy-service.ts'
import { createModernService } from './modern-service.ts'
import type { ClientFacts, RemoteService } from './remote-service.ts'

/** The HTTP errors of services that do not know `server/discover`. With others a handshake would fail too. */
const LEGACY_STATUSES: ReadonlyArray<number | undefined> = [400, 404, 405, 406]

/** Rejects with a ConnectionError that says what to do. */
export async function openService (options: EndpointOptions, client: ClientFacts): Promise<RemoteService> {
  const endpoint = new Endpoint(options)
  const modern = createModernService(endpoint, client)
  const discovering = modern.send({ method: 'server/discover', params: {} }, () => {})
  const discovery = await discovering.catch((error: unknown) => {
    if (error instanceof ConnectionError && LEGACY_STATUSES.includes(error.status)) return error
    throw error
  })
  if (!(discovery instanceof ConnectionError) && isModern(discovery)) return modern
  return await openLegacyService(endpoint, client).catch((error: unknown) => {
    // What the first request was told says more than what an address without an endpoint tells the second.
    throw discovery instanceof ConnectionError ? discovery : error
  })
}

function isModern (reply: Reply): boolean {
  if (!('json' in reply)) return false
  const { supportedVersions }: { readonly supportedVersions?: unknown } = JSON.parse(reply.json)
  return Array.isArray(supportedVersions) && supportedVersions.includes(CURRENT_REVISION)
}

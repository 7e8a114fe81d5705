// The connections of the main app: their limits, and the host names that they may ask for.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createRangeCheck } from '../access/proxy-range.ts'
import { isLocal } from '../base/loopback.ts'
import { createOutageLog } from '../base/outage-log.ts'
import { rememberPeers } from '../http/client-address.ts'
import { limitConnections, MAX_OTHER_CONNECTIONS } from '../http/connections.ts'
import { createOriginPolicy, type OriginPolicy } from '../http/origin-policy.ts'
import type { AppConfig } from '../ops/config/config.ts'

interface ConnectionDependencies {
  readonly config: AppConfig
  readonly log: FastifyBaseLogger
}

/** Returns the policy that the routes check. */
export function openConnections (
  app: FastifyInstance, { config, log }: ConnectionDependencies
): OriginPolicy {
  limitConnections(app.server, {
    maxConnections: config.maxStreams + MAX_OTHER_CONNECTIONS,
    isProxy: createRangeCheck(config.trustedProxies),
    onStalled: (client) => log.warn({ client }, 'connection closed: its client does not read'),
    onRefused: createOutageLog({ log, message: 'connections were refused' })
  })
  rememberPeers(app.server)
  const policy = createOriginPolicy(config)
  // Runs before the first connection. The policy depends on the address that the app listens on.
  app.server.once('listening', () => { if (!isLocal(app.server.address())) policy.expose() })
  return policy
}

// Composes the main app: the limits of its connections, and its routes for health, MCP, files, and the
// address of the authorization server.

import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createOutageLog } from '../base/outage-log.ts'
import { prefersHtml } from '../edges/http/accept.ts'
import { registerBody } from '../edges/http/body/body.ts'
import { createChallenges } from '../edges/http/challenges.ts'
import { createRangeCheck, rememberPeers } from '../edges/http/client-address.ts'
import { limitConnections, MAX_OTHER_CONNECTIONS } from '../edges/http/connections/connections.ts'
import type { Era } from '../edges/http/era.ts'
import { registerGuards, type GuardsDependencies } from '../edges/http/guards.ts'
import { registerMcpRoute } from '../edges/http/mcp-route.ts'
import { createOriginPolicy, type OriginPolicy } from '../edges/http/origin-policy.ts'
import { sendWelcome } from '../edges/http/pages/welcome-page.ts'
import { registerHealthRoutes, type Readiness } from '../edges/http/readiness.ts'
import { registerNotFound } from '../edges/http/replies.ts'
import { metadataUrlOf, registerResourceMetadata } from '../edges/http/resource-metadata.ts'
import { registerSigningKeys } from '../edges/http/signing-keys.ts'
import { createUnavailableLog } from '../edges/http/unavailable-log.ts'
import { ArrivingBytes } from '../platform/limits/arriving-bytes.ts'
import { LargeResults } from '../platform/limits/large-results.ts'
import { divide, Limit, partOf } from '../platform/limits/limits.ts'
import { Used } from '../platform/limits/used.ts'
import { maxWaitingBytes, WaitingBytes } from '../platform/limits/waiting-bytes.ts'
import type { ServiceConfig } from '../ops/config/config.ts'
import type { AuthorPage, RouteLimits, ServedFiles, ServedSignIn } from './features.ts'

/** What no caller gives. */
type OpenedHere = 'policy' | 'authentications' | 'arrivingBytes' | 'unavailableLog'

interface RouteDependencies extends Omit<GuardsDependencies, OpenedHere>, RouteLimits {
  readonly readiness: Readiness
  readonly eras: readonly Era[]
  readonly files: ServedFiles | undefined
  readonly signIn: ServedSignIn | undefined
  /** Returns the public keys of the JWTs that upstreams get. Absent: there are none. */
  readonly readSigningKeys?: () => string | undefined
  /** What is there for the author alone. */
  readonly authorPages: ReadonlyArray<Pick<AuthorPage, 'register'> | undefined>
}

export function registerRoutes (
  app: FastifyInstance,
  config: ServiceConfig,
  {
    readiness, eras, files, signIn, openStreams, limiter, readSigningKeys: readKeys, authorPages, ...members
  }: RouteDependencies
): void {
  const { publicUrl, authScopes: scopes, path } = config
  const issuers = [...signIn === undefined ? [] : [signIn.issuer], ...config.authIssuers]
  const policy = openConnections(app, config)
  const guards = {
    ...members,
    policy,
    authentications: new Used(new Limit('authentications', partOf('authentications', config.workerCount))),
    arrivingBytes: countArrivingBytes(config),
    unavailableLog: createUnavailableLog(app.log)
  }
  const { replies } = guards
  const hasMetadata = publicUrl !== undefined && issuers.length > 0
  app.decorate('challenges', createChallenges({
    metadataUrl: hasMetadata ? metadataUrlOf(publicUrl) : undefined, scopes
  }))
  app.register(async (open) => registerNotFound(open, {
    replies, policy, welcome: (request, reply) => sendWelcome({ publicUrl, path, replies }, request, reply)
  }))
  if (hasMetadata) {
    app.register(async (open) => registerResourceMetadata(open, { publicUrl, issuers, scopes, path }))
  }
  for (const page of authorPages) if (page !== undefined) app.register(async (open) => page.register(open))
  if (readKeys !== undefined) app.register(async (open) => registerSigningKeys(open, { readKeys }))
  files?.register(app, { ...guards, openStreams, limiter })
  signIn?.register(app, { ...guards, openStreams, limiter })
  app.register(async (open) => registerHealthRoutes(open, readiness))
  app.register(async (guarded) => {
    registerGuards(guarded, { ...guards, isOpen: prefersHtml })
    registerBody(guarded, { ...config, ...guards })
    registerMcpRoute(guarded, { publicUrl, path, eras, replies })
  })
}

/** What a body of the largest size counts, for each of its bytes: its pieces count too. */
const COUNTED_BYTES = 1.125

/** A body of the largest size is within each share, and has room beside that of somebody else. */
export function countArrivingBytes (
  { workerCount, maxBodyBytes }: Pick<ServiceConfig, 'workerCount' | 'maxBodyBytes'>
): ArrivingBytes {
  const largestBody = Math.ceil(maxBodyBytes * COUNTED_BYTES)
  const max = Math.max(partOf('arrivingBytes', workerCount), 2 * largestBody)
  return new ArrivingBytes(new Limit('arrivingBytes', max, { leastShare: largestBody }))
}

function logUnread (log: FastifyBaseLogger, client: string | undefined): void {
  log.warn({ client }, 'connection closed: its client does not read')
}

/** Creates what bounds the memory of large answers, from the begin of their calls until they are read. */
export function countLargeAnswers ({ workerCount }: ServiceConfig, log: FastifyBaseLogger) {
  const max = maxWaitingBytes(workerCount)
  const waitingBytes = new WaitingBytes(max, ({ address }) => logUnread(log, address))
  return { waitingBytes, largeResults: new LargeResults(waitingBytes) }
}

/** Returns the policy of the host names that clients may ask for. */
function openConnections (app: FastifyInstance, config: ServiceConfig): OriginPolicy {
  const { log } = app
  const headers = new Limit('arrivingHeaders', partOf('arrivingHeaders', config.workerCount))
  const { closeSilent } = limitConnections(app.server, {
    maxConnections: config.maxStreams + divide(MAX_OTHER_CONNECTIONS, config.workerCount),
    headerBytes: new ArrivingBytes(headers),
    isProxy: createRangeCheck(config.trustedProxies),
    onStalled: (client) => logUnread(log, client),
    onRefused: createOutageLog({ log, message: 'connections were refused' })
  })
  app.addHook('preClose', async () => closeSilent())
  rememberPeers(app.server)
  return createOriginPolicy(app.server, config)
}

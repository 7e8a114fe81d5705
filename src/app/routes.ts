// The routes of the main app: health, MCP, files, and where clients find the authorization server.

import type { FastifyInstance } from 'fastify'
import { registerBody } from '../http/body.ts'
import { createChallenges } from '../http/challenges.ts'
import type { Era } from '../http/era.ts'
import { registerGuards } from '../http/guards.ts'
import { registerHealthRoutes } from '../http/health-routes.ts'
import { registerMcpRoute } from '../http/mcp-route.ts'
import { registerNotFound } from '../http/not-found.ts'
import type { Readiness } from '../http/readiness.ts'
import { metadataUrlOf, registerResourceMetadata } from '../http/resource-metadata.ts'
import type { AppConfig } from '../ops/config/config.ts'
import type { OpenedFiles } from './files.ts'

type Guards = Parameters<typeof registerGuards>[1]

interface RouteDependencies extends Guards, Pick<Parameters<OpenedFiles['register']>[1], 'openStreams'> {
  readonly config: AppConfig
  readonly readiness: Readiness
  readonly eras: readonly Era[]
  readonly files: OpenedFiles
}

export function registerRoutes (
  app: FastifyInstance, { config, readiness, eras, files, openStreams, ...guards }: RouteDependencies
): void {
  const { publicUrl, authIssuers: issuers, authScopes: scopes, path } = config
  const { policy, replies } = guards
  const hasMetadata = publicUrl !== undefined && issuers.length > 0
  app.decorate('challenges', createChallenges({
    metadataUrl: hasMetadata ? metadataUrlOf(publicUrl) : undefined, scopes
  }))
  registerNotFound(app, { policy, replies })
  if (hasMetadata) {
    app.register(async (open) => registerResourceMetadata(open, { publicUrl, issuers, scopes, path }))
  }
  files.register(app, { ...guards, openStreams })
  app.register(async (open) => registerHealthRoutes(open, readiness))
  app.register(async (guarded) => {
    registerGuards(guarded, guards)
    registerBody(guarded, { ...config, replies })
    registerMcpRoute(guarded, { path, eras, replies })
  })
}

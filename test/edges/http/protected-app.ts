// A service that asks for access tokens of a real authorization server.

import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import {
  startAuthorizationServer, type AuthorizationServer, type AuthorizationServerSettings
} from '../../servers/authorization-server.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'
import { findFreePort } from '../../helpers/free-port.ts'

export interface ProtectedApp {
  readonly app: FastifyInstance
  readonly url: string
  readonly server: AuthorizationServer
  readonly log: ReadableLog
  /** The Authorization header of a new token of the client `machine`. */
  authorize (scope?: string): Promise<{ readonly authorization: string }>
}

const whoami = '(_, { principal: p }) => JSON.stringify([p.subject, p.clientId, p.issuer])'

const LIBRARY: Files = {
  'tools/whoami.ts': toolModule('whoami', '', whoami),
  'tools/lend.ts': toolModule('lend', "scopes: ['books:read', 'books:write'], whenMissing: 'challenge'"),
  'tools/burn.ts': toolModule('burn', "scopes: ['books:burn']")
}

/** Listens on the address that its tokens are for. */
export async function openProtectedApp (
  t: Test, { settings = {}, options = {}, files = LIBRARY }: {
    readonly settings?: AuthorizationServerSettings
    readonly options?: AppOptions
    readonly files?: Files
  } = {}
): Promise<ProtectedApp> {
  const server = await startAuthorizationServer(t, settings)
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}/mcp`
  const log = createReadableLog()
  const app = await buildApp(t, files, {
    logger: log.logger,
    auth: ['jwt'],
    publicUrl: url,
    authIssuers: [server.issuer],
    authScopes: ['books:read'],
    ...options
  })
  await app.listen({ host: '127.0.0.1', port })
  return {
    app,
    url,
    server,
    log,
    async authorize (scope = 'books:read') {
      const { access_token: token } = await server.clientCredentials({ scope, resource: url })
      return { authorization: `Bearer ${token}` }
    }
  }
}

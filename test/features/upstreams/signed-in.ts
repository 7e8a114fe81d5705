// A service whose tools call an upstream as their users: an authorization server that exchanges tokens, an
// upstream that verifies what it gets, and the service between them.

import type { IncomingMessage } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { Test } from 'tap'
import { createService, type AppOptions } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import { CLIENT, toClaims } from './tokens/exchange-setup.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { post } from '../../helpers/stream.ts'
import {
  startAuthorizationServer, type AuthorizationServer, type AuthorizationServerSettings
} from '../../servers/authorization-server.ts'
import { EXCHANGE_GRANTS, type ExchangeSettings } from '../../servers/exchange-grants.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { crmModule, startUpstream, type UpstreamServer } from './upstream-server.ts'

/** The members of the definition of the upstream `crm`. */
export const AS_CALLER = "auth: { type: 'exchange', audience: 'https://crm.example', scopes: ['crm:read'] }"
export const AS_SERVICE = "auth: { type: 'service', resource: 'https://crm.example' }"

/** Says whom the upstream has seen, or why it was not called. */
export const WHO = `import { defineTool } from 'trivet'
  import { crm } from '../lib/crm.ts'
  export default defineTool({
    name: 'who', upstreams: [crm],
    async run (_, ctx) { return (await (await ctx.fetch(crm, 'who')).json()).subject }
  })`

const AUDIENCE = 'https://crm.example'
/** Whom the tokens of users are for. */
export const RESOURCE = 'https://books.example/mcp'

/** Starts an authorization server at which the service may do everything that `auth` can ask for. */
export async function startIssuer (
  t: Test, exchange: Partial<ExchangeSettings> = {}, settings: AuthorizationServerSettings = {}
): Promise<AuthorizationServer> {
  return await startAuthorizationServer(t, {
    clients: [{
      client_id: CLIENT.clientId,
      client_secret: CLIENT.secret,
      grant_types: [EXCHANGE_GRANTS['token-exchange'], 'refresh_token', 'client_credentials'],
      redirect_uris: [],
      response_types: []
    }],
    exchange: { form: 'token-exchange', targets: [AUDIENCE], ...exchange },
    ...settings
  })
}

/** Signs a token for a user whom nobody signs in. */
export async function signFor (
  { issuer, sign }: AuthorizationServer, subject: string, claims: Readonly<Record<string, unknown>> = {}
): Promise<string> {
  return await sign(toClaims(issuer, subject, { aud: RESOURCE, ...claims }))
}

export interface Crm extends UpstreamServer {
  /** The tokens that it has taken, in their order. */
  readonly taken: string[]
  /** The requests that it has answered, also those without a token that it takes. */
  readonly seen: Array<Pick<IncomingMessage, 'url' | 'headers'>>
  /** Tokens that it takes no more. */
  readonly refused: Set<string>
}

/** Starts an upstream that takes this issuer's tokens for itself, and answers with their subject. */
export async function startCrm (t: Test, { issuer, origin }: AuthorizationServer): Promise<Crm> {
  const keys = createRemoteJWKSet(new URL(`${origin}/jwks`))
  // Times in tokens are whole seconds: one of a second may expire on its way.
  const rules = { issuer, audience: AUDIENCE, clockTolerance: 30 }
  const [taken, seen, refused]: [string[], Crm['seen'], Set<string>] = [[], [], new Set()]
  const upstream = await startUpstream(t, async ({ url, headers }, response) => {
    seen.push({ url, headers })
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    try {
      if (refused.has(token)) throw new Error('taken back')
      const { payload: { sub: subject } } = await jwtVerify(token, keys, rules)
      taken.push(token)
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ subject }))
    } catch {
      response.writeHead(401).end('{}')
    }
  })
  return Object.assign(upstream, { taken, seen, refused })
}

/** Serves a catalog with the upstream `crm` to the users of an issuer. */
export async function serveSignedIn (
  t: Test, issuer: AuthorizationServer, crm: Pick<Crm, 'url'>,
  { definition = AS_CALLER, files = { 'tools/who.ts': WHO }, options = {} }: {
    readonly definition?: string
    readonly files?: Files
    readonly options?: AppOptions
  } = {}
) {
  const catalog = await writeCatalog(t, { 'lib/crm.ts': crmModule(crm.url, definition), ...files })
  const log = createReadableLog('trace')
  const service = await createService({
    ...QUIET,
    catalog,
    logger: log.logger,
    auth: ['jwt'],
    publicUrl: RESOURCE,
    authIssuers: [issuer.issuer],
    authClientId: CLIENT.clientId,
    authClientSecret: CLIENT.secret,
    constants: { taskGraceMs: 50 },
    ...options
  }, { guard: createLoadGuard(), build: { version: '1.2.3', node: '20.19.0' } })
  const { app, admin } = service
  t.teardown(async () => await service.close())
  const origin = await app.listen({ host: '127.0.0.1', port: await findFreePort() })
  const url = `${origin}/mcp`

  /** Sends a request over HTTP. Resolves to the result, or to the error. */
  async function ask (token: string | undefined, method: string, params: object, meta: object = {}) {
    const headers = { authorization: token === undefined ? undefined : `Bearer ${token}` }
    const answer = await post(t, url, { method, params: { ...params }, headers, meta: { ...meta } })
    return answer.response.result ?? answer.response.error
  }

  return {
    ...service,
    url,
    origin,
    folder: catalog,
    log,
    ask,
    readMetrics: async () => (await admin?.inject('/metrics'))?.body ?? '',
    /** Calls a tool. Resolves to its text, or to the message of the error. */
    async call (token: string | undefined, name = 'who', args: object = {}): Promise<string> {
      const result = await ask(token, 'tools/call', { name, arguments: args })
      return result.content?.[0]?.text ?? result.message ?? 'nothing'
    }
  }
}

/** Starts all three. */
export async function openSignedIn (
  t: Test, { exchange, settings, ...served }: {
    readonly exchange?: Partial<ExchangeSettings>
    readonly settings?: AuthorizationServerSettings
  } & Parameters<typeof serveSignedIn>[3] = {}
) {
  const issuer = await startIssuer(t, exchange, settings)
  const crm = await startCrm(t, issuer)
  return {
    ...await serveSignedIn(t, issuer, crm, served),
    issuer,
    crm,
    sign: async (subject: string, claims?: Readonly<Record<string, unknown>>) => {
      return await signFor(issuer, subject, claims)
    }
  }
}

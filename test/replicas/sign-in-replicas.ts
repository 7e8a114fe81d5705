// Three replicas with sign-in and one Redis, behind a balancer that sends each request to the next of them.

import type { Test } from 'tap'
import { writeCatalog, type Files } from '../helpers/catalog-folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { startService, type Service } from '../helpers/service.ts'
import { startAuthorizationServer } from '../servers/authorization-server.ts'
import { startBalancer, type BalancerOptions } from '../servers/balancer.ts'
import { startRedisServer } from '../servers/redis-server.ts'

export const SECRET = 'the first secret of the replicas of one test'

/** Metadata documents of clients, by their URLs. */
type Documents = Readonly<Record<string, object>>

/** `write_book` needs a scope that no client asks for at first. */
function toFiles (documents: Documents): Files {
  const entries = Object.entries(documents).map(([url, document], index) => (
    { url, file: `clients/${index}.json`, document }
  ))
  return {
    'sign-in.yaml': JSON.stringify({
      scopes: { 'books:read': 'everyone', 'books:write': 'everyone' },
      times: { accessTokenSeconds: 60 },
      clients: { documents: Object.fromEntries(entries.map(({ url, file }) => [url, file])) }
    }),
    'tools/hello.mjs': toTool('hello'),
    'tools/write_book.mjs': toTool('write_book', ['books:write']),
    ...Object.fromEntries(entries.map(({ file, url, document }) => (
      [file, JSON.stringify({ client_id: url, ...document })]
    )))
  }
}

function toTool (name: string, scopes: readonly string[] = []): string {
  return `import { defineTool } from 'trivet'
export default defineTool({
  name: '${name}',
  description: 'Says who calls',
  inputSchema: { type: 'object' },
  scopes: ${JSON.stringify(scopes)},
  whenMissing: 'challenge',
  run: (_, { principal }) => JSON.stringify({ subject: principal.subject, scopes: [...principal.scopes] })
})`
}

export interface SignInReplicasOptions extends Pick<BalancerOptions, 'choose'> {
  /** `TRIVET_SECRETS` of each replica. */
  readonly secrets?: readonly string[]
  readonly documents?: Documents
  readonly logLevel?: string
}

/** Needs Redis: see `hasRedisServer`. */
export async function startSignInReplicas (
  t: Test, { secrets = [], documents = {}, logLevel = 'warn', choose }: SignInReplicasOptions = {}
) {
  const [port, first, second, third] = [
    await findFreePort(), await findFreePort(), await findFreePort(), await findFreePort()
  ]
  const origin = `http://127.0.0.1:${port}`
  const endpoint = `${origin}/mcp`
  const [redis, catalog, provider] = await Promise.all([
    startRedisServer(t), writeCatalog(t, toFiles(documents)), startAuthorizationServer(t, {
      clients: [{
        client_id: 'trivet',
        client_secret: 'trivet-secret',
        redirect_uris: [`${origin}/sign-in/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code']
      }]
    })
  ])
  const ports = [first, second, third]
  const start = async (index: number, own = SECRET): Promise<Service> => await startService(t, {
    PORT: String(ports[index]),
    TRIVET_CATALOG: catalog,
    TRIVET_WATCH: 'off',
    TRIVET_LOG_LEVEL: logLevel,
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: own,
    TRIVET_PUBLIC_URL: endpoint,
    TRIVET_AUTH: 'sign-in',
    TRIVET_AUTH_SCOPES: 'books:read',
    TRIVET_SIGN_IN: provider.issuer,
    TRIVET_SIGN_IN_CLIENT_ID: 'trivet',
    TRIVET_SIGN_IN_CLIENT_SECRET: 'trivet-secret'
  })
  const services = await Promise.all(ports.map(async (_, index) => await start(index, secrets[index])))
  const forwarded = await startBalancer(t, { port, ports, ...(choose !== undefined && { choose }) })
  return {
    origin,
    endpoint,
    provider,
    /** Every request that the balancer has had. */
    forwarded,
    /** What the replicas have logged since their last start. */
    logs: () => services.map(({ stdout }) => stdout()).join(''),
    /** Starts a replica again, with other secrets. */
    async restart (index: number, own: string): Promise<void> {
      await services[index]?.stop()
      services[index] = await start(index, own)
    }
  }
}

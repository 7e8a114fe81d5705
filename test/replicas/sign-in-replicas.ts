// Three replicas with sign-in and one Redis, behind a balancer that sends each request to the next of them.

import type { Test } from 'tap'
import { HELLO, startProvider } from '../features/sign-in/sign-in-service.ts'
import { writeCatalog, type Files } from '../helpers/catalog-folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { startService, type Service } from '../helpers/service.ts'
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
    ...HELLO,
    'tools/write_book.mjs': WRITE_BOOK,
    ...Object.fromEntries(entries.map(({ file, url, document }) => (
      [file, JSON.stringify({ client_id: url, ...document })]
    )))
  }
}

const WRITE_BOOK = `import { defineTool } from 'trivet'
export default defineTool({
  name: 'write_book',
  description: 'Says who calls',
  inputSchema: { type: 'object' },
  scopes: ['books:write'],
  whenMissing: 'challenge',
  run: (_, { principal }) => JSON.stringify({ subject: principal.subject, scopes: [...principal.scopes] })
})`

/** The settings of a service that signs people in with this provider. */
export const toEnvironment = (publicUrl: string, { issuer }: { readonly issuer: string }) => ({
  TRIVET_PUBLIC_URL: publicUrl,
  TRIVET_AUTH: 'sign-in',
  TRIVET_SIGN_IN: issuer,
  TRIVET_SIGN_IN_CLIENT_ID: 'trivet',
  TRIVET_SIGN_IN_CLIENT_SECRET: 'trivet-secret'
})

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
    startRedisServer(t), writeCatalog(t, toFiles(documents)), startProvider(t, endpoint)
  ])
  const ports = [first, second, third]
  const start = async (index: number, own = SECRET): Promise<Service> => await startService(t, {
    PORT: String(ports[index]),
    TRIVET_CATALOG: catalog,
    TRIVET_WATCH: 'off',
    TRIVET_LOG_LEVEL: logLevel,
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: own,
    TRIVET_AUTH_SCOPES: 'books:read',
    ...toEnvironment(endpoint, provider)
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

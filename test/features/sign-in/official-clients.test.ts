// The official clients of both generations sign a person in, with their own code for OAuth. They know only
// the URL of the service.

import {
  Client, StreamableHTTPClientTransport, UnauthorizedError, type OAuthClientProvider
} from '@modelcontextprotocol/client'
import { UnauthorizedError as EarlierUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StreamableHTTPClientTransport as EarlierTransport
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import t from 'tap'
import { createPerson } from '../../helpers/person.ts'
import type { Files } from '../../helpers/catalog-folder.ts'
import { startSignInService } from './sign-in-service.ts'

const REDIRECT_URL = 'http://127.0.0.1:4711/callback'

type Stored = { [K in 'clientInformation' | 'tokens']?: Awaited<ReturnType<OAuthClientProvider[K]>> }

/** Keeps what the client gives it, and records where it sends the person. */
function createUserAgent (stored: Stored = {}, clientMetadataUrl?: string) {
  let verifier = ''
  const visited: URL[] = []
  return {
    visited,
    stored,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl: REDIRECT_URL,
    clientMetadata: { client_name: 'An official client', redirect_uris: [REDIRECT_URL] },
    clientInformation: () => stored.clientInformation,
    saveClientInformation (information: NonNullable<Stored['clientInformation']>) {
      stored.clientInformation = information
    },
    tokens: () => stored.tokens,
    saveTokens (tokens: NonNullable<Stored['tokens']>) { stored.tokens = tokens },
    redirectToAuthorization (url: URL) { visited.push(url) },
    saveCodeVerifier (text: string) { verifier = text },
    codeVerifier: () => verifier
  }
}

type UserAgent = ReturnType<typeof createUserAgent>

interface OfficialClient {
  connect (): Promise<void>
  /** Gives the client the URL that the person came back to. */
  finish (back: URL): Promise<void>
  call (name: string): Promise<{ content?: unknown }>
  close (): Promise<void>
}

type EarlierOptions = ConstructorParameters<typeof EarlierTransport>[1] & object

type Generation = (endpoint: string, authProvider: UserAgent) => OfficialClient

const ABOUT = { name: 'test', version: '1.0.0' }

const GENERATIONS: Readonly<Record<string, Generation>> = {
  '2.x' (endpoint, authProvider) {
    const client = new Client(ABOUT, { versionNegotiation: { mode: 'auto' } })
    const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider })
    return {
      connect: async () => await client.connect(transport),
      finish: async (back) => await transport.finishAuth(back.searchParams),
      call: async (name) => await client.callTool({ name, arguments: {} }),
      close: async () => await client.close()
    }
  },
  '1.x' (endpoint, authProvider) {
    const client = new EarlierClient(ABOUT)
    const transport = new EarlierTransport(new URL(endpoint), { authProvider } as EarlierOptions)
    return {
      connect: async () => await client.connect(transport as Parameters<EarlierClient['connect']>[0]),
      finish: async (back) => await transport.finishAuth(back.searchParams.get('code') ?? ''),
      call: async (name) => await client.callTool({ name, arguments: {} }) as { content?: unknown },
      close: async () => await client.close()
    }
  }
}

const NO_REFRESH = { refresh_token: undefined } as unknown as { access_token: string, token_type: string }

const isUnauthorized = (error: unknown) => (
  error instanceof UnauthorizedError || error instanceof EarlierUnauthorizedError
)

async function visitLast ({ visited }: UserAgent): Promise<URL> {
  const url = visited.at(-1)
  if (url === undefined) throw new Error('the client has sent nobody anywhere')
  return (await createPerson().follow(url, REDIRECT_URL)).url
}

const DOCUMENT_URL = 'https://client.example/oauth/client.json'

const LIBRARY: Files = {
  'sign-in.yaml': `scopes:
  books:read: everyone
  books:write: everyone
clients:
  registration: off
  documents:
    ${DOCUMENT_URL}: client.json`,
  'client.json': JSON.stringify({
    client_id: DOCUMENT_URL, client_name: 'An official client', redirect_uris: ['http://127.0.0.1/callback']
  }),
  'tools/books.mjs': `import { defineTool } from 'trivet'
const inputSchema = { type: 'object' }
const run = (_, { principal }) => JSON.stringify([principal.clientId, ...principal.scopes].sort())
export const find = defineTool({ name: 'find', description: 'Finds a book', inputSchema, run })
export const lend = defineTool({
  name: 'lend', description: 'Lends', inputSchema, scopes: ['books:write'], whenMissing: 'challenge', run
})`
}

for (const [generation, open] of Object.entries(GENERATIONS)) {
  t.test(`the official client ${generation} registers, signs a person in, and refreshes`, async (t) => {
    const { endpoint, provider } = await startSignInService(t)
    const agent = createUserAgent()
    const first = open(endpoint, agent)
    const refusal = await first.connect().catch((error: unknown) => error)
    t.ok(isUnauthorized(refusal), String(refusal))
    t.match(agent.stored.clientInformation, { client_id: /^registered-/ })
    t.match(Object.fromEntries(agent.visited[0]?.searchParams ?? []), {
      resource: endpoint, code_challenge_method: 'S256', response_type: 'code', redirect_uri: REDIRECT_URL
    })
    await first.finish(await visitLast(agent))

    const second = open(endpoint, agent)
    await second.connect()
    t.match(await second.call('hello'), { content: [{ text: new RegExp(`${provider.issuer}\\|alice`) }] })
    await second.close()

    const { tokens } = agent.stored
    agent.stored.tokens = { ...tokens, access_token: `${tokens?.access_token ?? ''}x`, token_type: 'Bearer' }
    const third = open(endpoint, agent)
    await third.connect()
    t.match(await third.call('hello'), { content: [{ text: /alice/ }] })
    t.not(agent.stored.tokens?.refresh_token, tokens?.refresh_token, 'by a refresh')
    t.equal(agent.visited.length, 1, 'nobody is asked again')
    await third.close()
  })
}

for (const [generation, open] of Object.entries(GENERATIONS)) {
  t.test(`the official client ${generation} has a metadata document, and asks for more scopes (268)`, async (t) => {
    const { endpoint } = await startSignInService(t, {}, LIBRARY)
    const agent = createUserAgent({}, DOCUMENT_URL)
    const first = open(endpoint, agent)
    const refusal = await first.connect().catch((error: unknown) => error)
    t.ok(isUnauthorized(refusal), String(refusal))
    t.equal(agent.visited[0]?.searchParams.get('client_id'), DOCUMENT_URL)
    await first.finish(await visitLast(agent))
    const second = open(endpoint, agent)
    await second.connect()
    t.match(await second.call('find'), { content: [{ text: JSON.stringify([DOCUMENT_URL]) }] })

    // This generation refreshes its token where it should ask for more scopes, as long as it can refresh.
    if (generation === '1.x') agent.stored.tokens = { ...agent.stored.tokens, ...NO_REFRESH }
    const lacking = await second.call('lend').catch((error: unknown) => error)
    t.ok(isUnauthorized(lacking), String(lacking))
    t.match(agent.visited.at(-1)?.searchParams.get('scope'), /books:write/)
    await second.finish(await visitLast(agent))
    t.match(await second.call('lend'), { content: [{ text: JSON.stringify(['books:write', DOCUMENT_URL]) }] })
    await second.close()
  })
}

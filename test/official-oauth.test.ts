// The official client signs a user in at a real authorization server, and asks for more scopes when it needs
// them. It knows only the URL of the service.

import {
  Client, StreamableHTTPClientTransport, UnauthorizedError, type OAuthClientProvider
} from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { signInAt } from './helpers/browser.ts'
import { openProtectedApp } from './edges/http/protected-app.ts'

const REDIRECT_URL = 'http://127.0.0.1:4711/callback'

type Stored = { [K in 'clientInformation' | 'tokens']?: Awaited<ReturnType<OAuthClientProvider[K]>> }

/** A user agent that keeps what the client gives it, and records where it is sent to sign in. */
function createUserAgent (stored: Stored = {}): OAuthClientProvider & { readonly visited: URL[] } {
  let verifier = ''
  const visited: URL[] = []
  return {
    visited,
    redirectUrl: REDIRECT_URL,
    clientMetadata: {
      client_name: 'test',
      redirect_uris: [REDIRECT_URL],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native'
    },
    clientInformation: () => stored.clientInformation,
    saveClientInformation (information) { stored.clientInformation = information },
    tokens: () => stored.tokens,
    saveTokens (tokens) { stored.tokens = tokens },
    redirectToAuthorization (url) { visited.push(url) },
    saveCodeVerifier (text) { verifier = text },
    codeVerifier: () => verifier
  }
}

async function connect (t: Test, transport: StreamableHTTPClientTransport, mode: 'auto' | 'legacy') {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  t.teardown(async () => await client.close())
  return client
}

/** Signs in where the client was sent, and gives the client what came back. */
async function signIn (visited: readonly URL[], transport: StreamableHTTPClientTransport): Promise<URL> {
  const asked = visited.at(-1)
  if (asked === undefined) throw new Error('the client was sent nowhere')
  const back = await signInAt(asked, 'alice')
  await transport.finishAuth(back.searchParams)
  return asked
}

for (const mode of ['auto', 'legacy'] as const) {
  t.test(`the official client registers itself, and signs a user in (257, 264; ${mode})`, async (t) => {
    const { url, server } = await openProtectedApp(t)
    const authProvider = createUserAgent()
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
    await t.rejects(connect(t, transport, mode), UnauthorizedError)
    const asked = await signIn(authProvider.visited, transport)
    t.match(Object.fromEntries(asked.searchParams), {
      resource: url, scope: /books:read/, code_challenge_method: 'S256', response_type: 'code'
    })
    t.equal(server.requestsOf('/reg'), 1)
    const client = await connect(t, new StreamableHTTPClientTransport(new URL(url), { authProvider }), mode)
    const { content } = await client.callTool({ name: 'whoami', arguments: {} })
    t.match(content, [{ text: /^\["alice",/ }])
    t.strictSame((await client.listTools()).tools.map(({ name }) => name).toSorted(), ['lend', 'whoami'])
  })

  t.test(`the official client asks for the scopes of a challenge (268; ${mode})`, async (t) => {
    const { url } = await openProtectedApp(t)
    // The server lets a client that registered itself ask only for the scopes that it registered with.
    const authProvider = createUserAgent({ clientInformation: { client_id: 'app' } })
    const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider })
    const first = open()
    await t.rejects(connect(t, first, mode), UnauthorizedError)
    await signIn(authProvider.visited, first)
    const transport = open()
    const client = await connect(t, transport, mode)
    await t.rejects(client.callTool({ name: 'lend', arguments: {} }), UnauthorizedError)
    const asked = await signIn(authProvider.visited, transport)
    t.match(asked.searchParams.get('scope'), 'books:read books:write')
    t.match((await client.callTool({ name: 'lend', arguments: {} })).content, [{ text: 'ok' }])
  })
}

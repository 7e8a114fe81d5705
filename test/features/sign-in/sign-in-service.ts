// A service with sign-in, and a client that signs somebody in.

import { createHash, randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createPerson, type Person, type Visit } from '../../helpers/person.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { startAuthorizationServer, type AuthorizationServer } from '../../servers/authorization-server.ts'

export interface SignInService {
  readonly app: FastifyInstance
  readonly endpoint: string
  readonly origin: string
  readonly provider: AuthorizationServer
}

export const REDIRECT_URI = 'http://127.0.0.1/back'

export const HELLO: Files = {
  'tools/hello.mjs': `import { defineTool } from 'trivet'
export default defineTool({
  name: 'hello',
  description: 'Says who calls',
  inputSchema: { type: 'object' },
  run: (_, { principal }) => JSON.stringify({ subject: principal.subject, scopes: [...principal.scopes] })
})`
}

export async function startSignInService (
  t: Test, options: AppOptions = {}, files: Files = HELLO
): Promise<SignInService> {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const { publicUrl = `${origin}/mcp` } = options
  const provider = await startAuthorizationServer(t, {
    clients: [{
      client_id: 'trivet',
      client_secret: 'trivet-secret',
      redirect_uris: [new URL('sign-in/callback', publicUrl).href],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code']
    }]
  })
  const app = await createApp({
    catalog: await writeCatalog(t, files),
    ...QUIET,
    auth: ['sign-in'],
    publicUrl,
    signIn: provider.issuer,
    signInClientId: 'trivet',
    signInClientSecret: 'trivet-secret',
    ...options
  })
  t.teardown(async () => await app.close())
  await app.listen({ host: '127.0.0.1', port })
  return { app, endpoint: `${origin}/mcp`, origin, provider }
}

export interface Metadata {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly registration_endpoint: string
  readonly revocation_endpoint: string
  readonly jwks_uri: string
  readonly [member: string]: unknown
}

/** @param path of the issuer. */
export async function readMetadata (origin: string, path = ''): Promise<Metadata> {
  return await (await fetch(`${origin}/.well-known/oauth-authorization-server${path}`)).json() as Metadata
}

export async function register (
  { registration_endpoint: url }: Metadata, metadata: Record<string, unknown> = {}
): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Test client', redirect_uris: [REDIRECT_URI], ...metadata })
  })
}

export interface Asked {
  readonly clientId: string
  readonly scope?: string
  readonly person?: Person
  readonly redirectUri?: string
  readonly params?: Record<string, string>
}

/** Sends a person to the service, and resolves to where the person comes back. */
export async function authorize (
  metadata: Metadata, { clientId, scope, person = createPerson(), redirectUri = REDIRECT_URI, params }: Asked
): Promise<{ readonly back: Visit, readonly verifier: string }> {
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL(metadata.authorization_endpoint)
  url.search = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    ...(scope !== undefined && { scope }),
    state: 'the state of the client',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...params
  }).toString()
  return { back: await person.follow(url, redirectUri), verifier }
}

export async function askForToken (
  { token_endpoint: url }: Metadata, form: Record<string, string>
): Promise<{ readonly status: number, readonly body: Record<string, unknown> }> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
  return { status: response.status, body: await response.json() as Record<string, unknown> }
}

interface AskedSignIn extends Omit<Asked, 'clientId'> {
  /** Happens before the code is redeemed. */
  readonly beforeToken?: () => Promise<void>
}

/** Registers a client, signs a person in and redeems the code. */
export async function signIn (
  origin: string, { beforeToken, ...asked }: AskedSignIn = {}, path = ''
) {
  const metadata = await readMetadata(origin, path)
  const { client_id: clientId } = await (await register(metadata)).json() as { client_id: string }
  const { back, verifier } = await authorize(metadata, { clientId, ...asked })
  await beforeToken?.()
  const { status, body } = await askForToken(metadata, {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    code: back.url.searchParams.get('code') ?? '',
    code_verifier: verifier
  })
  return { metadata, clientId, back, verifier, status, body }
}

export async function callHello (endpoint: string, token: unknown) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${String(token)}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'hello'
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'hello',
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {}
        }
      }
    })
  })
  return { status: response.status, body: await response.text() }
}

// A service with sign-in, and a client that signs somebody in.

import { createHash, randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createPerson, type Person } from '../../helpers/person.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { toPost } from '../../helpers/request.ts'
import {
  startAuthorizationServer, type AuthorizationServer, type AuthorizationServerSettings
} from '../../servers/authorization-server.ts'

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

/** Starts an identity provider with a client for the service at this public URL. */
export async function startProvider (
  t: Test, publicUrl: string, settings: AuthorizationServerSettings = {}
): Promise<AuthorizationServer> {
  return await startAuthorizationServer(t, {
    ...settings,
    clients: [{
      client_id: 'trivet',
      client_secret: 'trivet-secret',
      redirect_uris: [new URL('sign-in/callback', publicUrl).href],
      grant_types: [
        'authorization_code', 'refresh_token',
        ...(settings.exchange === undefined ? [] : ['urn:ietf:params:oauth:grant-type:token-exchange'])
      ],
      response_types: ['code']
    }]
  })
}

/** The options of a service that signs people in with this provider. */
export const toOptions = (publicUrl: string, { issuer }: { readonly issuer: string }) => ({
  auth: ['sign-in'],
  publicUrl,
  signIn: issuer,
  signInClientId: 'trivet',
  signInClientSecret: 'trivet-secret'
} satisfies AppOptions)

/** Starts a service on a free port, after the identity provider that `start` starts for its public URL. */
export async function startServiceAt<P extends { readonly issuer: string }> (
  t: Test,
  start: (publicUrl: string) => Promise<P>,
  options: AppOptions = {},
  files: Files | ((provider: P) => Promise<Files>) = HELLO
) {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const { publicUrl = `${origin}/mcp` } = options
  const provider = await start(publicUrl)
  const app = await createApp({
    catalog: await writeCatalog(t, typeof files === 'function' ? await files(provider) : files),
    ...QUIET,
    ...toOptions(publicUrl, provider),
    ...options
  })
  t.teardown(async () => await app.close())
  await app.listen({ host: '127.0.0.1', port })
  return { app, endpoint: `${origin}/mcp`, origin, provider }
}

/** Starts a service whose identity provider behaves as the settings say. */
export async function startSignInService (
  t: Test,
  options: AppOptions = {},
  files: Files | ((provider: AuthorizationServer) => Promise<Files>) = HELLO,
  settings: AuthorizationServerSettings = {}
) {
  const start = async (publicUrl: string) => await startProvider(t, publicUrl, settings)
  return await startServiceAt(t, start, options, files)
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

/** The endpoints of an issuer, for clients that do not read its metadata. */
export const toEndpoints = (issuer: string) => ({
  authorization_endpoint: `${issuer}/sign-in/authorize`,
  token_endpoint: `${issuer}/sign-in/token`,
  registration_endpoint: `${issuer}/sign-in/register`
})

/** @param path of the issuer. */
export async function readMetadata (origin: string, path = ''): Promise<Metadata> {
  return await (await fetch(`${origin}/.well-known/oauth-authorization-server${path}`)).json() as Metadata
}

export async function register (
  { registration_endpoint: url }: Pick<Metadata, 'registration_endpoint'>,
  metadata: Record<string, unknown> = {}
): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Test client', redirect_uris: [REDIRECT_URI], ...metadata })
  })
}

/** Registers a client. Resolves to its id. */
export async function registerClient (
  server: Pick<Metadata, 'registration_endpoint'>, metadata?: Record<string, unknown>
): Promise<string> {
  const response = await register(server, metadata)
  const { client_id: clientId } = await response.json() as { client_id?: string }
  if (clientId === undefined) throw new Error(`not registered: ${response.status}`)
  return clientId
}

export interface Asked {
  readonly clientId: string
  readonly scope?: string
  readonly person?: Person
  readonly redirectUri?: string
  readonly params?: Readonly<Record<string, string>>
}

/** A verifier of PKCE, and the parameters of its challenge. */
export function createChallenge () {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, params: { code_challenge: challenge, code_challenge_method: 'S256' } }
}

/** The URL to which a client sends a person, and what redeems the code. */
export function toAuthorization (
  { authorization_endpoint: endpoint }: Pick<Metadata, 'authorization_endpoint'>,
  { clientId, scope, redirectUri = REDIRECT_URI, params }: Omit<Asked, 'person'>
) {
  const { verifier, params: challenge } = createChallenge()
  const url = new URL(endpoint)
  url.search = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    ...(scope !== undefined && { scope }),
    state: 'the state of the client',
    ...challenge,
    ...params
  }).toString()
  const toForm = (back: URL) => ({
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code: back.searchParams.get('code') ?? '',
    code_verifier: verifier
  })
  return { url, toForm }
}

/** Sends a person to the service, and resolves to where the person comes back. */
export async function authorize (metadata: Metadata, { person = createPerson(), ...asked }: Asked) {
  const { url, toForm } = toAuthorization(metadata, asked)
  const back = await person.follow(url, asked.redirectUri ?? REDIRECT_URI)
  return { back, form: toForm(back.url) }
}

export interface Answer { readonly status: number, readonly body: Record<string, unknown> }

export async function askForToken (
  { token_endpoint: url }: Pick<Metadata, 'token_endpoint'>, form: Record<string, string>
): Promise<Answer> {
  return await postForm(url, form)
}

export async function postForm (url: string, form: Record<string, string>): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) as Record<string, unknown> }
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
  const clientId = await registerClient(metadata)
  const { back, form } = await authorize(metadata, { clientId, ...asked })
  await beforeToken?.()
  const { status, body } = await askForToken(metadata, form)
  return { metadata, clientId, back, form, status, body }
}

export async function callHello (endpoint: string, token: unknown) {
  const { headers, body } = toPost({
    method: 'tools/call',
    params: { name: 'hello', arguments: {} },
    headers: { authorization: `Bearer ${String(token)}` }
  })
  const response = await fetch(endpoint, { method: 'POST', headers, body })
  return { status: response.status, body: await response.text() }
}

// A real authorization server for one test: oidc-provider on a free loopback port. It can behave as known
// identity providers do, stop, come back, become slow, and change its keys.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import type { AdapterPayload, ClientMetadata, JWK, JWKS } from 'oidc-provider'
import type { Test } from 'tap'
import { signInAt } from '../helpers/browser.ts'
import type { ExchangeSettings } from './exchange-grants.ts'
import { buildProvider } from './oidc-provider.ts'
import { BEHAVIORS, type ProviderName } from './provider-behaviors.ts'
import { findFreePort } from '../helpers/free-port.ts'

export interface AuthorizationServerSettings {
  /** Whose tokens, issuer and metadata it has. `standard` by default: RFC 9068 and RFC 8414. */
  readonly behavesAs?: ProviderName
  /** Of access tokens for a resource. `jwt` by default. */
  readonly format?: 'jwt' | 'opaque'
  /** Of the keys. `ES256` by default. */
  readonly alg?: string
  /** What clients may ask for. `books:read` and `books:write` by default. */
  readonly scopes?: readonly string[]
  /** 600 by default. */
  readonly tokenTtlSeconds?: number
  /** The claims of a user in ID tokens, beside those that the behavior has. */
  readonly claimsOf?: (user: string) => Readonly<Record<string, unknown>>
  /** The issuer, where it is not the address of the server. */
  readonly origin?: string
  /** More clients than `machine` and `books`, whose secrets are `…-secret`, and `app`, which is public. */
  readonly clients?: readonly ClientMetadata[]
  /** Whether it exchanges tokens, and for what. It does not by default. */
  readonly exchange?: ExchangeSettings
  /** Whether clients that may have refresh tokens get them. True by default. */
  readonly issuesRefreshTokens?: boolean
  /** Told of the tokens of each sign-in and refresh. */
  readonly onTokens?: (tokens: readonly string[]) => void
}

export interface Tokens {
  readonly access_token: string
  readonly id_token?: string
  readonly refresh_token?: string
  readonly scope?: string
  readonly expires_in: number
}

export interface AskedToken {
  readonly scope?: string
  /** `https://books.example/mcp` by default. `null`: the client names none. */
  readonly resource?: string | null
}

type Form = Readonly<Record<string, string | null | undefined>>

/** Of the client `app`. The server lets any port of the loopback interface take its place. */
const REDIRECT_URI = 'http://127.0.0.1/callback'

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>

/** Starts a server, and stops it when the test ends. */
export async function startAuthorizationServer (t: Test, settings: AuthorizationServerSettings = {}) {
  const {
    behavesAs = 'standard', format = 'jwt', alg = 'ES256', scopes = ['books:read', 'books:write'],
    tokenTtlSeconds = 600, claimsOf = () => ({}), clients = [], exchange, issuesRefreshTokens, onTokens
  } = settings
  const behavior = BEHAVIORS[behavesAs]
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const issuer = `${settings.origin ?? origin}${behavior.path}`
  const mount = behavior.path.replace(/\/$/, '')
  const records = new Map<string, AdapterPayload>()
  const counts = new Map<string, number>()
  const queries = new Map<string, URLSearchParams>()
  const answers = new Map<string, (response: ServerResponse) => void>()
  let delayMs = 0
  let keys: readonly JWK[] = []
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  let http = createServer()

  async function useKeys (used: readonly JWK[]): Promise<void> {
    keys = used
    const provider = await buildProvider({
      issuer,
      behavior,
      alg,
      format,
      scopes,
      tokenTtlSeconds,
      claimsOf,
      records,
      exchange,
      issuesRefreshTokens,
      onTokens,
      jwks: { keys: [...used] } as JWKS,
      clients: [...CLIENTS, ...clients]
    })
    handle = provider.callback()
  }

  async function answer (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/\?.*$/, '')
    counts.set(path, (counts.get(path) ?? 0) + 1)
    queries.set(path, new URL(request.url ?? '', origin).searchParams)
    if (delayMs > 0) await pause(delayMs, undefined, { ref: false })
    const own = answers.get(path)
    if (own !== undefined) own(response)
    else route(request, response, { mount, hasOAuthMetadata: behavior.hasOAuthMetadata, handle })
  }

  async function start (): Promise<void> {
    http = createServer((request, response) => { answer(request, response).catch(() => response.destroy()) })
    http.listen(port, '127.0.0.1')
    await once(http, 'listening')
  }

  async function stop (): Promise<void> {
    if (!http.listening) return
    http.close()
    http.closeAllConnections()
    await once(http, 'close')
  }

  async function post (path: string, form: Form, client?: string): Promise<Response> {
    const body = new URLSearchParams()
    for (const [name, value] of Object.entries(form)) if (value) body.set(name, value)
    return await fetch(`${origin}${mount}${path}`, {
      method: 'POST',
      body,
      headers: client === undefined ? {} : { authorization: `Basic ${btoa(client)}` }
    })
  }

  async function askForTokens (form: Form, client?: string): Promise<Tokens> {
    const response = await post('/token', form, client)
    const body = await response.json() as Tokens
    if (response.status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`)
    return body
  }

  await useKeys([await createKey(alg)])
  await start()
  t.teardown(stop)
  return {
    issuer,
    origin,
    /** The `aud` of its tokens, if it does not depend on the resource that clients ask for. */
    audience: behavior.audience,
    start,
    /** Refuses connections until `start`. */
    stop,
    /** Each answer waits for this time. */
    slowDown (ms: number) { delayMs = ms },
    /** Answers requests of the path itself. Without `own`, the server answers as before. */
    replaceAnswer (path: string, own?: (response: ServerResponse) => void) {
      if (own === undefined) answers.delete(path)
      else answers.set(path, own)
    },
    /** How many requests the path has had, without the query: such as `/jwks`. */
    requestsOf: (path: string) => counts.get(`${mount}${path}`) ?? counts.get(path) ?? 0,
    /** The query of the last request of the path. */
    lastQuery: (path: string) => queries.get(`${mount}${path}`) ?? new URLSearchParams(),
    allRequests: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    /** Signs with a new key. The old one is not published any more, unless `keepsOld`. */
    async rotateKeys ({ keepsOld = false } = {}) {
      await useKeys([await createKey(alg), ...(keepsOld ? keys : [])])
    },
    /** The public keys that it publishes. */
    async publicKeys () {
      const response = await fetch(`${origin}${mount}/jwks`)
      return (await response.json() as { keys: JWK[] }).keys
    },
    /** Signs any claims with the server's key, as `at+jwt`. `undefined` leaves a name out. */
    async sign (claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}) {
      const [key] = keys
      return await new SignJWT(claims as JWTPayload).setProtectedHeader(
        { alg, kid: key?.kid, typ: 'at+jwt', ...header } as { alg: string }
      ).sign(key as Parameters<SignJWT['sign']>[0])
    },
    /** The client `machine` acts for itself. */
    async clientCredentials ({ scope, resource = RESOURCE }: AskedToken = {}) {
      const form = { grant_type: 'client_credentials', scope, resource }
      return await askForTokens(form, 'machine:machine-secret')
    },
    /**
     * A user signs in, and the client gets tokens by authorization code and PKCE. The client is `app`, or one
     * that `register` made.
     */
    async signIn (
      { scope = 'openid', resource = RESOURCE, user = 'alice', clientId = 'app' }:
      AskedToken & { readonly user?: string, readonly clientId?: string } = {}
    ) {
      const verifier = randomBytes(32).toString('base64url')
      const url = new URL(`${origin}${mount}/auth`)
      url.search = new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: REDIRECT_URI,
        scope,
        ...(resource !== null && { resource }),
        state: 'any',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256'
      }).toString()
      const back = await signInAt(url, user)
      return await askForTokens({
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        code: back.searchParams.get('code') ?? '',
        code_verifier: verifier,
        resource
      })
    },
    /** New tokens for the refresh token of `signIn`. */
    refresh: async (refreshToken: string, { scope, resource }: AskedToken = {}, clientId = 'app') => {
      return await askForTokens({
        grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, scope, resource
      })
    },
    /** Takes a token of the client `machine` back, so that introspection answers that it is not active. */
    async revoke (token: string) { await post('/token/revocation', { token }, 'machine:machine-secret') },
    /** Registers a public client (RFC 7591), and resolves to what the server says of it. */
    async register (metadata: Record<string, unknown> = {}): Promise<{ client_id: string }> {
      const response = await fetch(`${origin}${mount}/reg`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: [REDIRECT_URI],
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          ...metadata
        })
      })
      return await response.json() as { client_id: string }
    }
  }
}

const RESOURCE = 'https://books.example/mcp'

const CLIENTS: readonly ClientMetadata[] = [
  {
    client_id: 'machine',
    client_secret: 'machine-secret',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: []
  },
  {
    client_id: 'books', client_secret: 'books-secret', grant_types: [], redirect_uris: [], response_types: []
  },
  {
    client_id: 'app',
    token_endpoint_auth_method: 'none',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code']
  }
]

/** A private key as a JWK, with a random `kid`. */
async function createKey (alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...await exportJWK(privateKey), alg, use: 'sig', kid: randomBytes(6).toString('hex') } as JWK
}

interface Route {
  readonly mount: string
  readonly hasOAuthMetadata: boolean
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

/** Puts the provider below the path of its issuer, and the metadata at the places of both specifications. */
function route (
  request: IncomingMessage, response: ServerResponse, { mount, hasOAuthMetadata, handle }: Route
): void {
  const url = request.url ?? ''
  const oauth = `/.well-known/oauth-authorization-server${mount}`
  const isOAuth = url === oauth || url.startsWith(`${oauth}?`)
  if ((isOAuth && !hasOAuthMetadata) || (!isOAuth && !url.startsWith(`${mount}/`))) {
    response.writeHead(404).end()
    return
  }
  // The names by which frameworks tell a handler where it is mounted.
  const inner = isOAuth ? url.replace(mount, '') : url.slice(mount.length)
  Object.assign(request, { url: inner, originalUrl: `${mount}${inner}`, baseUrl: mount })
  handle(request, response)
}

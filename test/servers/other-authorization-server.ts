// An authorization server whose token exchange and client credentials are those of a library. It reads the
// request, authenticates the client and makes the answer; the store is the test's.

import { once } from 'node:events'
import { createServer } from 'node:http'
import {
  AuthorizationServer, DateInterval, JwtService, OAuthRequest, type OAuthClient
} from '@jmondi/oauth2-server'
import { jwtVerify } from 'jose'
import type { Test } from 'tap'

const KEY = 'the key of the other authorization server'
const PREFIX = 'urn:ietf:params:oauth:grant-type:'

export interface OtherServer {
  readonly issuer: string
  /** A token of a user for this service. */
  sign (subject: string): Promise<string>
  /** The claims of a token of the server. Rejects for others. */
  read (token: string): Promise<Readonly<Record<string, unknown>>>
}

export async function startOtherServer (
  t: Test, { clientId, secret }: { readonly clientId: string, readonly secret: string }
): Promise<OtherServer> {
  const jwt = new JwtService(KEY)
  const client = {
    id: clientId,
    name: clientId,
    secret,
    redirectUris: [],
    scopes: [],
    allowedGrants: ['client_credentials', `${PREFIX}token-exchange`]
  } as unknown as OAuthClient
  const toScopes = (names: readonly string[]) => names.map((name) => ({ name }))
  const server = new AuthorizationServer(
    {
      getByIdentifier: async (id) => {
        if (id !== clientId) throw new Error('unknown client')
        return client
      },
      isClientValid: async (grant, { allowedGrants }, given) => {
        return given === secret && allowedGrants.includes(grant)
      }
    },
    {
      issueToken: async (own, scopes, user) => ({
        accessToken: crypto.randomUUID(),
        accessTokenExpiresAt: new DateInterval('5m').getEndDate(),
        client: own,
        scopes,
        user: user ?? null
      }),
      issueRefreshToken: async (token) => token,
      persist: async () => {},
      revoke: async () => {},
      isRefreshTokenRevoked: async () => true,
      getByRefreshToken: async () => { throw new Error('none') }
    },
    {
      getAllByIdentifiers: async (names) => toScopes(names),
      finalize: async (scopes) => scopes
    },
    jwt
  )
  server.enableGrantType('client_credentials')
  server.enableGrantType({
    grant: `${PREFIX}token-exchange`,
    processTokenExchange: async ({ subjectToken }) => {
      const { sub } = await read(subjectToken)
      return { id: String(sub) }
    }
  })

  async function read (token: string): Promise<Readonly<Record<string, unknown>>> {
    const { payload } = await jwtVerify(token, Buffer.from(KEY), { algorithms: ['HS256'] })
    return payload
  }

  const http = createServer((request, response) => {
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      if (request.url?.startsWith('/.well-known/')) {
        return answer(200, { issuer, token_endpoint: `${issuer}/token`, response_types_supported: [] })
      }
      const body = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
      const headers = { authorization: request.headers.authorization }
      server.respondToAccessTokenRequest(new OAuthRequest({ body, headers, query: {} })).then(
        (result) => answer(result.status, result.body),
        ({ status = 400, errorType: error = 'invalid_request' }) => answer(status, { error })
      )
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => http.close())
  const { port } = http.address() as { port: number }
  const issuer = `http://127.0.0.1:${port}`
  const sign = async (sub: string) => await jwt.sign({ sub, exp: Math.floor(Date.now() / 1000) + 600 })
  return { issuer, read, sign }
}

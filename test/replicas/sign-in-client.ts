// The official clients of both generations, which sign a person in as a host does: the browser comes back,
// and the host connects once more.

import {
  Client, StreamableHTTPClientTransport, UnauthorizedError, type OAuthDiscoveryState
} from '@modelcontextprotocol/client'
import { UnauthorizedError as UnauthorizedErrorOfSdk1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientOfSdk1 } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StreamableHTTPClientTransport as TransportOfSdk1
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Test } from 'tap'
import { createPerson, type Person } from '../helpers/person.ts'

const REDIRECT_URI = 'http://127.0.0.1:33418/back'
const INFO = { name: 'test', version: '1.0.0' }

export interface SignInClient {
  readonly person: Person
  /** How often the person was sent to sign in. */
  readonly visits: () => number
  readonly accessToken: () => string | undefined
  /** Signs the person in if the client asks for it, and calls again. */
  call (tool: string): Promise<{ readonly subject: string, readonly scopes: readonly string[] }>
  /** Makes the access token one that the service does not know any more. */
  expire (): void
  /** Connects anew without the refresh token, as a host does that needs more than a refresh gives. */
  dropRefreshToken (): Promise<void>
}

export type Generation = 'SDK 1' | 'SDK 2'

export function createSignInClient (t: Test, endpoint: string, generation: Generation): SignInClient {
  const person = createPerson()
  const provider = createProvider(person)
  const url = new URL(endpoint)

  async function connectSdk1 () {
    const transport = new TransportOfSdk1(url, { authProvider: provider })
    const client = new ClientOfSdk1(INFO)
    return {
      connect: async () => await client.connect(transport),
      finish: async (back: URLSearchParams) => await transport.finishAuth(back.get('code') ?? ''),
      call: async (name: string) => await client.callTool({ name, arguments: {} }),
      close: async () => await client.close()
    }
  }

  async function connectSdk2 () {
    const transport = new StreamableHTTPClientTransport(url, { authProvider: provider })
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } })
    return {
      connect: async () => await client.connect(transport),
      finish: async (back: URLSearchParams) => await transport.finishAuth(back),
      call: async (name: string) => await client.callTool({ name, arguments: {} }),
      close: async () => await client.close()
    }
  }

  const create = generation === 'SDK 1' ? connectSdk1 : connectSdk2
  let connection: Awaited<ReturnType<typeof create>> | undefined
  t.teardown(async () => await connection?.close())

  /** Resolves to the result, or to `undefined` after the person has signed in for it. */
  async function attempt (tool: string) {
    const isNew = connection === undefined
    connection ??= await create()
    const { connect, call, finish, close } = connection
    try {
      if (isNew) await connect()
      return await call(tool)
    } catch (error) {
      if (!(error instanceof UnauthorizedError || error instanceof UnauthorizedErrorOfSdk1)) throw error
      await finish(provider.takeBack())
      await close()
      connection = undefined
      return undefined
    }
  }

  return {
    person,
    visits: () => provider.visits,
    accessToken: () => provider.tokens()?.access_token,
    async call (tool) {
      const result = await attempt(tool) ?? await attempt(tool)
      const [content] = JSON.parse(JSON.stringify(result?.content ?? []))
      return JSON.parse(content?.text ?? '{}')
    },
    expire: () => provider.expire(),
    async dropRefreshToken () {
      await connection?.close()
      connection = undefined
      provider.dropRefreshToken()
    }
  }
}

interface Tokens { access_token: string, token_type: string, refresh_token?: string, scope?: string }

function createProvider (person: Person) {
  let registration: { client_id: string } | undefined
  let tokens: Tokens | undefined
  let verifier = ''
  let discovery: OAuthDiscoveryState | undefined
  let back: URLSearchParams | undefined
  return {
    visits: 0,
    redirectUrl: REDIRECT_URI,
    clientMetadata: { client_name: 'Official client', redirect_uris: [REDIRECT_URI] },
    clientInformation: () => registration,
    saveClientInformation (information: { client_id: string }) { registration = information },
    tokens: () => tokens,
    saveTokens (issued: Tokens) { tokens = issued },
    codeVerifier: () => verifier,
    saveCodeVerifier (value: string) { verifier = value },
    discoveryState: () => discovery,
    saveDiscoveryState (state: OAuthDiscoveryState) { discovery = state },
    invalidateCredentials (kind: string) {
      if (kind === 'all' || kind === 'tokens') tokens = undefined
      if (kind === 'all' || kind === 'client') registration = undefined
    },
    async redirectToAuthorization (url: URL) {
      this.visits++
      back = (await person.follow(url, REDIRECT_URI)).url.searchParams
    },
    takeBack () {
      if (back === undefined) throw new Error('the person was not sent to sign in')
      return back
    },
    dropRefreshToken () {
      const { refresh_token: _, ...others } = tokens ?? { access_token: '', token_type: '' }
      tokens = others
    },
    expire () {
      if (tokens !== undefined) tokens = { ...tokens, access_token: `${tokens.access_token}x` }
    }
  }
}

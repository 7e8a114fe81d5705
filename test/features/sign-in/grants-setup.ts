// A service with sign-in whose identity provider a test sets up, and what clients and people do with grants.

import { createHash, randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { createApp, type AppOptions } from '../../../src/app/app.ts'
import { replaceTime } from '../../../src/base/time.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createPerson } from '../../helpers/person.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import {
  startAuthorizationServer, type AuthorizationServer, type AuthorizationServerSettings
} from '../../servers/authorization-server.ts'
import { HELLO } from './sign-in-service.ts'

export const REDIRECT_URI = 'http://127.0.0.1/back'
export const CRM = 'https://crm.example'

/** An identity provider with a client for the service, which may exchange tokens too. */
export async function startProvider (
  t: Test, origin: string, { exchange = {}, ...settings }: Omit<AuthorizationServerSettings, 'exchange'> & {
    readonly exchange?: Partial<NonNullable<AuthorizationServerSettings['exchange']>>
  } = {}
): Promise<AuthorizationServer> {
  return await startAuthorizationServer(t, {
    ...settings,
    clients: [{
      client_id: 'trivet',
      client_secret: 'trivet-secret',
      redirect_uris: [`${origin}/sign-in/callback`],
      grant_types: [
        'authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:token-exchange'
      ],
      response_types: ['code']
    }],
    exchange: { form: 'token-exchange', targets: [CRM], ...exchange }
  })
}

export interface GrantService {
  readonly app: FastifyInstance
  readonly origin: string
  readonly provider: AuthorizationServer
  readonly log: ReturnType<typeof createReadableLog>
}

export async function startGrantService (
  t: Test, { provider: settings = {}, files = HELLO, options = {} }: {
    readonly provider?: Parameters<typeof startProvider>[2]
    readonly files?: Files | ((provider: AuthorizationServer) => Promise<Files>)
    readonly options?: AppOptions
  } = {}
): Promise<GrantService> {
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const provider = await startProvider(t, origin, settings)
  const log = createReadableLog('trace')
  const app = await createApp({
    catalog: await writeCatalog(t, typeof files === 'function' ? await files(provider) : files),
    ...QUIET,
    logger: log.logger,
    auth: ['sign-in'],
    publicUrl: `${origin}/mcp`,
    signIn: provider.issuer,
    signInClientId: 'trivet',
    signInClientSecret: 'trivet-secret',
    ...options
  })
  t.teardown(async () => await app.close())
  await app.listen({ host: '127.0.0.1', port })
  return { app, origin, provider, log }
}

/** Lets all clocks of this process go ahead, but those of the provider. */
export function createAhead (t: Test): (ms: number) => void {
  let aheadMs = 0
  t.teardown(replaceTime({ now: () => Date.now() + aheadMs }))
  return (ms) => { aheadMs += ms }
}

export interface Answer { readonly status: number, readonly body: Record<string, unknown> }

/** Sends a form to a path below the origin. */
export async function postForm (origin: string, path: string, form: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${origin}${path}`, { method: 'POST', body: new URLSearchParams(form) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) as Record<string, unknown> }
}

export async function register (origin: string): Promise<string> {
  const response = await fetch(`${origin}/sign-in/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Test client', redirect_uris: [REDIRECT_URI] })
  })
  return (await response.json() as { client_id: string }).client_id
}

/** What a client needs to redeem a code. */
export interface Code {
  readonly form: Record<string, string>
  readonly clientId: string
}

/** A client sends a person to the service, and gets a code. */
export async function getCode (
  origin: string, clientId: string, { name = 'alice', scope }: { name?: string, scope?: string } = {}
): Promise<Code> {
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL(`${origin}/sign-in/authorize`)
  url.search = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    state: 'the state of the client',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope })
  }).toString()
  const back = await createPerson({ name }).follow(url, REDIRECT_URI)
  const code = back.url.searchParams.get('code')
  if (code === null) throw new Error(`no code: ${back.url.href} ${back.text}`)
  return {
    clientId,
    form: {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      code,
      code_verifier: verifier
    }
  }
}

export const redeem = async (origin: string, { form }: Code) => await postForm(origin, '/sign-in/token', form)

export async function refresh (origin: string, clientId: string, token: unknown): Promise<Answer> {
  return await postForm(origin, '/sign-in/token', {
    grant_type: 'refresh_token', client_id: clientId, refresh_token: String(token)
  })
}

/** Registers, signs in and redeems the code. */
export async function signInAs (origin: string, name = 'alice') {
  const clientId = await register(origin)
  const { status, body } = await redeem(origin, await getCode(origin, clientId, { name }))
  if (status !== 200) throw new Error(`no token: ${JSON.stringify(body)}`)
  return {
    clientId, accessToken: String(body.access_token), refreshToken: String(body.refresh_token)
  }
}

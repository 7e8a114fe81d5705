// A service with sign-in whose identity provider a test sets up, and what clients and people do with grants.

import type { Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { replaceTime } from '../../../src/base/time.ts'
import { createPerson } from '../../helpers/person.ts'
import type { Files } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import type { AuthorizationServer, AuthorizationServerSettings } from '../../servers/authorization-server.ts'
import {
  postForm as post, registerClient, REDIRECT_URI, startSignInService, toAuthorization, toEndpoints,
  type Answer
} from './sign-in-service.ts'

export const CRM = 'https://crm.example'

interface GrantProviderSettings extends Omit<AuthorizationServerSettings, 'exchange'> {
  readonly exchange?: Partial<NonNullable<AuthorizationServerSettings['exchange']>>
}

/** Settings of an identity provider that exchanges tokens too. */
export const toExchanging = ({ exchange, ...settings }: GrantProviderSettings = {}) => ({
  ...settings, exchange: { form: 'token-exchange' as const, targets: [CRM], ...exchange }
})

export async function startGrantService (t: Test, { provider, files, options = {} }: {
  readonly provider?: GrantProviderSettings
  readonly files?: Files | ((provider: AuthorizationServer) => Promise<Files>)
  readonly options?: AppOptions
} = {}) {
  const log = createReadableLog('trace')
  const all = { logger: log.logger, ...options }
  return { ...await startSignInService(t, all, files, toExchanging(provider)), log }
}

/** Lets all clocks of this process go ahead, but those of the provider. */
export function createAhead (t: Test): (ms: number) => void {
  let aheadMs = 0
  t.teardown(replaceTime({ now: () => Date.now() + aheadMs }))
  return (ms) => { aheadMs += ms }
}

/** Sends a form to a path below the origin. */
export async function postForm (origin: string, path: string, form: Record<string, string>): Promise<Answer> {
  return await post(`${origin}${path}`, form)
}

export async function register (origin: string): Promise<string> {
  return await registerClient(toEndpoints(origin))
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
  const { url, toForm } = toAuthorization(toEndpoints(origin), { clientId, ...(scope && { scope }) })
  const back = await createPerson({ name }).follow(url, REDIRECT_URI)
  if (!back.url.searchParams.has('code')) throw new Error(`no code: ${back.url.href} ${back.text}`)
  return { clientId, form: toForm(back.url) }
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

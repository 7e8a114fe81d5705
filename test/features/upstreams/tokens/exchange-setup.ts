// A service that exchanges the tokens of its callers at a real authorization server.

import { decodeJwt } from 'jose'
import type { Test } from 'tap'
import { createBearerAuthenticator } from '../../../../src/platform/access/bearer-authenticator.ts'
import { CallerTokens } from '../../../../src/platform/access/caller-tokens.ts'
import { createJwtVerifier } from '../../../../src/platform/access/jwt-verifier.ts'
import type { Principal } from '../../../../src/platform/access/principal.ts'
import {
  TokenExchange, type TokenExchangeOptions
} from '../../../../src/features/upstreams/tokens/token-exchange.ts'
import { PRESETS, type TokenRules } from '../../../../src/platform/access/token-rules.ts'
import {
  startAuthorizationServer, type AuthorizationServerSettings
} from '../../../servers/authorization-server.ts'
import { EXCHANGE_GRANTS, type ExchangeSettings } from '../../../servers/exchange-grants.ts'

export const CLIENT = { clientId: 'trivet', secret: 'the-secret-of-the-service' }

/** Makes the claims of a token for a user whom nobody signs in. `aud` must be among the claims. */
export function toClaims (
  issuer: string, subject: string, claims: { readonly aud: unknown, readonly [name: string]: unknown }
): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  return {
    iss: issuer,
    sub: subject,
    client_id: 'app',
    scope: 'books:read',
    iat: now,
    exp: now + 600,
    jti: `${subject}-${Math.random()}`,
    ...claims
  }
}

interface SetupOptions {
  readonly behavesAs?: 'standard' | 'entra' | 'auth0' | 'keycloak'
  readonly server?: AuthorizationServerSettings
  readonly settings?: Partial<ExchangeSettings>
  readonly options?: Partial<TokenExchangeOptions>
}

export async function openExchange (
  t: Test, { behavesAs = 'standard', server: own = {}, settings = {}, options = {} }: SetupOptions = {}
) {
  const exchanged: Array<{ readonly subject: string, readonly parameters: object }> = []
  const rules: TokenRules = PRESETS[behavesAs]
  const { exchange: form = 'token-exchange' } = rules
  const server = await startAuthorizationServer(t, {
    behavesAs,
    clients: [{
      client_id: CLIENT.clientId,
      client_secret: CLIENT.secret,
      grant_types: [EXCHANGE_GRANTS[form], 'refresh_token', 'client_credentials'],
      redirect_uris: [],
      response_types: []
    }],
    exchange: {
      form,
      targets: ['https://crm.example', 'api://crm', 'crm', 'mail'],
      onExchange: (subject, parameters) => exchanged.push({ subject, parameters: { ...parameters } }),
      ...settings
    },
    ...own
  })
  const audience = server.audience ?? 'https://books.example/mcp'
  const tokens = new CallerTokens()
  const authenticator = createBearerAuthenticator([createJwtVerifier({
    issuers: [server.issuer], audiences: [{ audience }], rules: PRESETS[behavesAs]
  })], { tokens })
  const exchange = new TokenExchange({ issuers: [server.issuer], tokens, client: CLIENT, form, ...options })

  /** Signs a token as the server does, for a user whom nobody signs in. */
  async function sign (subject: string, claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const header = { typ: behavesAs === 'standard' ? 'at+jwt' : 'JWT' }
    return await server.sign(toClaims(server.issuer, subject, { aud: audience, ...claims }), header)
  }

  return {
    server,
    tokens,
    exchange,
    /** Each exchange that the server has made or refused. */
    exchanged,
    sign,
    async authenticate (token: string): Promise<Principal> {
      return await authenticator.authenticate(`Bearer ${token}`)
    },
    async principal (subject: string, claims?: Readonly<Record<string, unknown>>): Promise<Principal> {
      return await authenticator.authenticate(`Bearer ${await sign(subject, claims)}`)
    }
  }
}

/** Who a token is for, and where. */
export function readToken (token: string): { readonly subject: string, readonly audience: unknown } {
  const { sub, oid, aud } = decodeJwt<{ oid?: string }>(token)
  // Some tokens are for the userinfo endpoint too.
  return { subject: String(oid ?? sub).replace(/^(?:oid-|auth0\|)/, ''), audience: [aud].flat()[0] }
}

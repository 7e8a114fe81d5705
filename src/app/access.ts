// Opens the authenticator that the settings ask for.

import { openToAll, reasonOf, type Authenticator } from '../platform/access/authentication.ts'
import { createBearerAuthenticator } from '../platform/access/bearer-authenticator.ts'
import type { CallerTokens } from '../platform/access/caller-tokens.ts'
import { createIntrospectionVerifier } from '../platform/access/introspection-verifier.ts'
import {
  openStaticTokens, type StaticTokensLog, type StaticTokensState, type StaticTokensVerifier
} from '../platform/access/static-tokens.ts'
import type { TokenVerifier } from '../platform/access/token.ts'
import { CheckedPart } from '../edges/http/readiness.ts'
import { createRefusalRate } from '../platform/limits/refusal-rate.ts'
import { audiencesIn, clientIn, rulesIn, type AccessConfig } from '../ops/config/access-settings.ts'
import { ConfigError } from '../ops/config/config.ts'

/** Whether requests without a token are served. */
export function mayBeAnonymous (
  { auth }: AccessConfig, authenticator: Authenticator | undefined
): boolean {
  if (authenticator !== undefined) return authenticator.admitsAnonymous === true
  return auth.length === 0 || auth.includes('none')
}

interface AccessLog extends StaticTokensLog {
  warn (fields: object, message: string): void
}

/**
 * Without a mode, or with `none` alone, every caller is anonymous. Rejects with a ConfigError.
 * @param parts gets what the authenticator needs to serve requests.
 * @param tokens gets the token of each principal, for the exchange of tokens.
 * @param issuedHere verify the tokens of the sign-in and of the desk. Absent without these.
 */
export async function openAuthenticator (
  config: AccessConfig, log: AccessLog, parts: CheckedPart[], tokens?: CallerTokens,
  issuedHere: ReadonlyArray<TokenVerifier | undefined> = []
): Promise<Authenticator> {
  const modes = config.auth.filter((mode) => mode !== 'none')
  if (modes.length === 0) return openToAll
  try {
    const verifiers = issuedHere.filter((verifier) => verifier !== undefined)
    // The cheapest answer to "not mine" first.
    if (config.authTokens !== undefined) {
      const staticTokens = await openStaticTokens(config.authTokens, log).catch((error: unknown) => {
        throw new Error(`TRIVET_AUTH_TOKENS names a file that cannot be used: ${reasonOf(error)}`)
      })
      verifiers.push(staticTokens)
      parts.push(new CheckedPart('static tokens', async () => readState(staticTokens)))
    }
    const issued = { audiences: audiencesIn(config), rules: rulesIn(config) }
    if (modes.includes('jwt')) {
      // Loads 40 files of jose.
      const { createJwtVerifier } = await import('../platform/access/jwt-verifier.ts')
      verifiers.push(createJwtVerifier({ issuers: config.authIssuers, ...issued }))
    }
    if (modes.includes('introspection')) {
      verifiers.push(createIntrospectionVerifier({
        ...toIntrospection(config), ...issued, refusalRate: createRefusalRate({ log })
      }))
    }
    const anonymous = config.auth.includes('none')
    return createBearerAuthenticator(verifiers, { anonymous, ...(tokens !== undefined && { tokens }) })
  } catch (error) {
    throw new ConfigError([reasonOf(error)], { cause: error })
  }
}

/** Throws while the file of the tokens cannot be read. */
function readState ({ state }: StaticTokensVerifier): StaticTokensState {
  if (state.tokens === undefined) throw new Error(state.problem)
  return state
}

/** Returns the authorization server to ask, and what this service is to it. */
function toIntrospection ({ authIssuers, authIntrospectionUrl, ...config }: AccessConfig) {
  return {
    issuer: authIssuers[0] ?? '',
    client: clientIn(config) ?? { clientId: '' },
    ...(authIntrospectionUrl !== undefined && { endpoint: authIntrospectionUrl })
  }
}

// Opens the authenticator that the settings ask for.

import { openToAll, reasonOf, type Authenticator } from '../access/authentication.ts'
import { createBearerAuthenticator } from '../access/bearer-authenticator.ts'
import { createIntrospectionVerifier } from '../access/introspection-verifier.ts'
import { createJwtVerifier } from '../access/jwt-verifier.ts'
import { openStaticTokens, type StaticTokensLog } from '../access/static-tokens.ts'
import type { TokenVerifier } from '../access/token.ts'
import { audiencesIn, rulesIn, type AccessConfig } from '../ops/config/access-settings.ts'
import { ConfigError } from '../ops/config/config.ts'

/** Without a mode, or with `none` alone, every caller is anonymous. Rejects with a ConfigError. */
export async function openAuthenticator (
  config: AccessConfig, log: StaticTokensLog
): Promise<Authenticator> {
  const modes = config.auth.filter((mode) => mode !== 'none')
  if (modes.length === 0) return openToAll
  try {
    const verifiers: TokenVerifier[] = []
    // The cheapest answer to "not mine" first.
    if (config.authTokens !== undefined) verifiers.push(await openStaticTokens(config.authTokens, log))
    if (modes.includes('jwt')) verifiers.push(openJwt(config))
    if (modes.includes('introspection')) verifiers.push(openIntrospection(config))
    return createBearerAuthenticator(verifiers, { anonymous: config.auth.includes('none') })
  } catch (error) {
    throw new ConfigError([reasonOf(error)], { cause: error })
  }
}

function openJwt (config: AccessConfig): TokenVerifier {
  return createJwtVerifier({
    issuers: config.authIssuers, audiences: audiencesIn(config), rules: rulesIn(config)
  })
}

function openIntrospection (config: AccessConfig): TokenVerifier {
  const { authIssuers: [issuer = ''], authClientId: clientId = '', authClientSecret, authClientKey } = config
  return createIntrospectionVerifier({
    issuer,
    client: {
      clientId,
      ...(authClientSecret !== undefined && { secret: authClientSecret }),
      ...(authClientKey !== undefined && { privateKey: authClientKey })
    },
    audiences: audiencesIn(config),
    rules: rulesIn(config),
    ...(config.authIntrospectionUrl !== undefined && { endpoint: config.authIntrospectionUrl })
  })
}

// Signs people in for clients: the service is their authorization server, and the identity provider of the
// company says who they are.

import { clock } from '../../base/time.ts'
import type { ClientCredentials } from '../../platform/access/client-authentication.ts'
import { createSigningKeys } from '../../platform/store/sealing/signing-keys.ts'
import type { EngineOptions } from './engine/engine.ts'
import { loadEngine } from './engine/load-engine.ts'
import { FLOW_SECONDS, toMetadata } from './engine/metadata.ts'
import { createConnections } from './flows/connections.ts'
import { createFlows } from './flows/flows.ts'
import { createEndedConsents } from './flows/ended-consents.ts'
import { createIdentify } from './flows/identify.ts'
import { createPassages } from './flows/passages.ts'
import { createOutcomes } from './flows/steps.ts'
import { createGrantRecords } from './grants/grant-records.ts'
import { createCallers } from './grants/callers.ts'
import { createOwnTokenVerifier } from './grants/own-tokens.ts'
import { createProviderTokens } from './grants/provider-tokens.ts'
import type { IdentityProvider } from './people/identity-provider.ts'
import { claimsIn } from './people/people.ts'
import { PROVIDERS } from './people/providers.ts'
import type { SignInFile } from './people/sign-in-file.ts'

/** What the sign-in gives to its engine. */
type OwnOption = 'file' | 'keys' | 'grants' | 'verifier' | 'vouch'

export interface SignInOptions extends Omit<EngineOptions, OwnOption> {
  readonly provider: { readonly issuer: string, readonly client: ClientCredentials }
  /** Creates what takes the place of the provider. */
  readonly createProvider?: ((options: { readonly redirectUri: string }) => IdentityProvider) | undefined
  readonly file: SignInFile
}

export type SignIn = Awaited<ReturnType<typeof openSignIn>>

/** Below the issuer. */
export const CALLBACK_PATH = '/sign-in/callback'
/** The page where people see what they have connected. */
export const CONNECTIONS_PATH = '/sign-in'

/** Rejects with a TypeError if the client of the provider cannot be used. */
export async function openSignIn (options: SignInOptions) {
  const { issuer, resource, provider, createProvider, file, store, sealer, log } = options
  const { rules, times } = file
  const { createEngine } = await loadEngine(log)
  const keys = createSigningKeys(sealer, 'sign-in')
  const grants = createGrantRecords(store, { idleMs: times.refreshTokenSeconds * 1000 })
  const redirectUri = `${issuer}${CALLBACK_PATH}`
  const identityProvider = createProvider?.({ redirectUri }) ?? openProvider(provider, file, redirectUri)
  const providerTokens = createProviderTokens({
    store, sealer, grants, identityProvider, rules, log, maxAgeMs: times.grantSeconds * 1000
  })
  const verifier = createOwnTokenVerifier({ issuer, resource, jwks: JSON.parse(keys.jwks), grants })
  const { engine, serve } = createEngine({ ...options, keys, grants, verifier, vouch: providerTokens.vouch })
  const identify = createIdentify(identityProvider, rules, store, log)
  const passages = createPassages(sealer, FLOW_SECONDS, clock.now)
  const parts = {
    grants, endedConsents: createEndedConsents(store), identityProvider, identify, passages, sealer
  }
  const connections = createConnections({ ...parts, url: `${issuer}${CONNECTIONS_PATH}` })
  return {
    issuer,
    flows: createFlows({ ...parts, engine, issuer, resource, providerTokens, rules, connections }),
    connections,
    verifier,
    /** The metadata of the authorization server. */
    metadata: toMetadata(issuer, resource, file),
    callers: createCallers(issuer, providerTokens),
    outcomes: createOutcomes(),
    /** Serves a request of the engine. */
    serve
  }
}

function openProvider (
  provider: SignInOptions['provider'], { preset, rules, ask: { scopes, audience } }: SignInFile,
  redirectUri: string
): IdentityProvider {
  const { create, scopesFor, params, audienceParam, hasUserInfo = true } = PROVIDERS[preset]
  return create({
    ...provider,
    redirectUri,
    scopes: [...scopesFor?.(provider.client.clientId) ?? [], ...scopes],
    params: {
      ...params, ...(audienceParam !== undefined && audience !== undefined && { [audienceParam]: audience })
    },
    claimNames: claimsIn(rules),
    hasUserInfo
  })
}

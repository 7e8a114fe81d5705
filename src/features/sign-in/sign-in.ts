// Signs people in for clients: the service is their authorization server, and the identity provider of the
// company says who they are.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { clock } from '../../base/time.ts'
import type { ClientCredentials } from '../../platform/access/client-authentication.ts'
import type { TokenVerifier } from '../../platform/access/token.ts'
import type { StateStore } from '../../platform/store/records/state-store.ts'
import type { Sealer } from '../../platform/store/sealing/sealer.ts'
import { createSigningKeys } from '../../platform/store/sealing/signing-keys.ts'
import { createDocuments } from './engine/documents.ts'
import type { EngineLog } from './engine/engine-log.ts'
import { createEngine, FLOW_SECONDS, type EngineError, type ErrorPage } from './engine/engine.ts'
import { toMetadata } from './engine/metadata.ts'
import { createRefreshTokens } from './engine/refresh-tokens.ts'
import { registerRevocation } from './engine/revocation.ts'
import { createRegistrations } from './engine/registrations.ts'
import { createConnections, type Connections } from './flows/connections.ts'
import { createFlows, type Flows } from './flows/flows.ts'
import { createEndedConsents } from './flows/ended-consents.ts'
import { createIdentify } from './flows/identify.ts'
import { createPassages } from './flows/passages.ts'
import { createGrantRecords } from './grants/grant-records.ts'
import { createCallers } from './grants/callers.ts'
import { createOwnTokenVerifier } from './grants/own-tokens.ts'
import { createProviderTokens } from './grants/provider-tokens.ts'
import type { IdentityProvider } from './people/identity-provider.ts'
import { claimsIn } from './people/people.ts'
import { PROVIDERS } from './people/providers.ts'
import type { SignInFile } from './people/sign-in-file.ts'

export interface SignInOptions {
  readonly issuer: string
  /** The URL of the endpoint for clients. */
  readonly resource: string
  readonly provider: { readonly issuer: string, readonly client: ClientCredentials }
  /** Creates what takes the place of the provider. */
  readonly createProvider?: ((options: { readonly redirectUri: string }) => IdentityProvider) | undefined
  readonly file: SignInFile
  readonly store: StateStore
  readonly sealer: Sealer
  readonly toErrorPage: (error: EngineError) => ErrorPage
  readonly log: EngineLog
}

export interface SignIn {
  readonly issuer: string
  readonly flows: Flows
  readonly connections: Connections
  readonly verifier: TokenVerifier
  /** The metadata of the authorization server. */
  readonly metadata: ReturnType<typeof toMetadata>
  readonly callers: ReturnType<typeof createCallers>
  /**
   * Serves a request of the engine.
   * @param sender has the network, if a share limits it, and the way of the browser that comes back to it.
   */
  handle (
    request: IncomingMessage, response: ServerResponse, log: EngineLog,
    sender: { readonly network: string | undefined, readonly way?: string | undefined }
  ): Promise<void>
}

/** Below the issuer. */
export const CALLBACK_PATH = '/sign-in/callback'
/** The page where people see what they have connected. */
export const CONNECTIONS_PATH = '/sign-in'

/** Rejects with a TypeError if the client of the provider cannot be used. */
export async function openSignIn (
  { issuer, resource, provider, createProvider, file, store, sealer, toErrorPage, log }: SignInOptions
): Promise<SignIn> {
  const { rules, clients, times } = file
  const keys = createSigningKeys(sealer, 'sign-in')
  const maxAgeMs = times.grantSeconds * 1000
  const grants = createGrantRecords(store, { idleMs: times.refreshTokenSeconds * 1000 })
  const redirectUri = `${issuer}${CALLBACK_PATH}`
  const identityProvider = createProvider?.({ redirectUri }) ?? openProvider(provider, file, redirectUri)
  const providerTokens = createProviderTokens({
    store, sealer, grants, identityProvider, rules, log, maxAgeMs
  })
  const scopes = Object.keys(rules.scopes)
  const logs = new WeakMap<IncomingMessage, EngineLog>()
  const networks = new WeakMap<IncomingMessage, string>()
  const ways = new WeakMap<IncomingMessage, string>()
  const engine = await createEngine({
    ...times,
    issuer,
    resource,
    store,
    sealer,
    grants,
    scopes,
    networks,
    ways,
    vouch: providerTokens.vouch,
    registrations: createRegistrations(sealer),
    refreshTokens: createRefreshTokens(sealer),
    jwks: {
      keys: keys.all.map(({ privateKey, publicKey }) => ({
        ...privateKey.export({ format: 'jwk' }), ...publicKey
      }))
    },
    toErrorPage,
    documents: createDocuments({ ...clients, log }),
    hasRegistration: clients.registration,
    log,
    logOf: (request) => logs.get(request) ?? log
  })
  const verifier = createOwnTokenVerifier({ issuer, resource, jwks: JSON.parse(keys.jwks), grants })
  registerRevocation(engine, verifier, grants)
  const serve = engine.callback()
  const identify = createIdentify(identityProvider, rules, store, log)
  const passages = createPassages(sealer, FLOW_SECONDS, clock.now)
  const endedConsents = createEndedConsents(store)
  const parts = { grants, endedConsents, identityProvider, identify, passages, sealer }
  const connections = createConnections({ ...parts, url: `${issuer}${CONNECTIONS_PATH}` })
  return {
    issuer,
    flows: createFlows({ ...parts, engine, issuer, resource, providerTokens, rules, connections }),
    connections,
    verifier,
    metadata: toMetadata({ issuer, resource, scopes, hasRegistration: clients.registration }),
    callers: createCallers(issuer, providerTokens),
    async handle (request, response, requestLog, { network, way }) {
      logs.set(request, requestLog)
      if (network !== undefined) networks.set(request, network)
      if (way !== undefined) ways.set(request, way)
      await serve(request, response)
    }
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

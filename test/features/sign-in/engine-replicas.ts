// Two replicas of the engine over one store. The first one has the faults of a test.

import Fastify from 'fastify'
import type { Provider } from 'oidc-provider'
import type { Test } from 'tap'
import { createEngine } from '../../../src/features/sign-in/engine/engine.ts'
import { createRegistrations } from '../../../src/features/sign-in/engine/registrations.ts'
import { createGrantRecords } from '../../../src/features/sign-in/grants/grant-records.ts'
import { createOwnTokenVerifier } from '../../../src/features/sign-in/grants/own-tokens.ts'
import { createProviderTokens } from '../../../src/features/sign-in/grants/provider-tokens.ts'
import { SignInRefused } from '../../../src/features/sign-in/people/identity-provider.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import type { StateStore } from '../../../src/platform/store/records/state-store.ts'
import { createSealer } from '../../../src/platform/store/sealing/sealer.ts'
import { createSigningKeys } from '../../../src/platform/store/sealing/signing-keys.ts'
import { FaultyStore } from '../../helpers/faulty-store.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { createChallenge, REDIRECT_URI, type Answer } from './sign-in-service.ts'

const RESOURCE = 'http://127.0.0.1/mcp'
const DAY_MS = 86_400_000
export const SECRET = 'a secret of both replicas'

/** How the identity provider takes a refresh token that was used before. */
export type Rotation = 'keeps' | 'strict'

function createIdentityProvider (rotation: Rotation) {
  let last = 0
  return {
    issuer: 'https://login.example',
    asked: 0,
    async renew (refreshToken: string) {
      this.asked++
      if (rotation === 'strict' && refreshToken !== `refresh-${last}`) throw new SignInRefused('invalid_grant')
      if (rotation === 'strict') last++
      return {
        tokens: { accessToken: 'access', refreshToken: `refresh-${last}` },
        identify: async () => ({ claims: { sub: 'alice' } })
      }
    }
  }
}

async function openReplica (
  t: Test, store: StateStore, identityProvider: ReturnType<typeof createIdentityProvider>
) {
  const log = createReadableLog().logger
  const sealer = createSealer([SECRET])
  const grants = createGrantRecords(store, { idleMs: 14 * DAY_MS })
  const rules = { admit: [], scopes: {}, subjectClaims: ['sub'] }
  const providerTokens = createProviderTokens({
    store, sealer, grants, identityProvider, rules, log, maxAgeMs: 90 * DAY_MS
  })
  const keys = createSigningKeys(sealer, 'sign-in')
  const issuer = 'http://127.0.0.1'
  const { engine } = createEngine({
    issuer,
    resource: RESOURCE,
    file: {
      rules,
      clients: { documents: new Map(), registration: true },
      times: { accessTokenSeconds: 3600, refreshTokenSeconds: 14 * 86_400, grantSeconds: 90 * 86_400 }
    },
    keys,
    store,
    sealer,
    grants,
    verifier: createOwnTokenVerifier({ issuer, resource: RESOURCE, jwks: JSON.parse(keys.jwks), grants }),
    vouch: providerTokens.vouch,
    toErrorPage: () => ({ headers: {}, text: '' }),
    log
  })
  const registrations = createRegistrations(sealer)
  const handle = engine.callback()
  const app = Fastify()
  // The engine reads the bodies itself.
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.all('/*', async (request, reply) => {
    reply.hijack()
    await handle(request.raw, reply.raw)
  })
  t.teardown(async () => await app.close())
  return {
    engine,
    grants,
    providerTokens,
    registrations,
    /** Sends a form to the token endpoint. */
    async ask (form: Readonly<Record<string, string>>): Promise<Answer> {
      const response = await app.inject({
        method: 'POST',
        url: '/sign-in/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams(form).toString()
      })
      return { status: response.statusCode, body: response.json() }
    }
  }
}

export type Replica = Awaited<ReturnType<typeof openReplica>>

/** What asks for new tokens. */
export const toRefreshForm = (clientId: string, token: unknown) => (
  { grant_type: 'refresh_token', client_id: clientId, refresh_token: String(token) }
)

/** Lets a person come in, and returns what redeems the code. */
async function createCode (
  engine: Provider, { grants, providerTokens, registrations }: Replica
) {
  const clientId = registrations.toId({ client_name: 'Test', redirect_uris: [REDIRECT_URI] })
  const id = grants.newId('alice')
  const signedIn = { claims: { sub: 'alice' }, tokens: { accessToken: 'access', refreshToken: 'refresh-0' } }
  const about = { clientName: 'Test', createdAt: Date.now() }
  await grants.create(id, { grant: {}, about, ...providerTokens.begin(id, signedIn) })
  const grant = new engine.Grant({ accountId: 'alice', clientId })
  grant.jti = id
  grant.addOIDCScope('sign-in')
  grant.addResourceScope(RESOURCE, '')
  await grant.save()
  const client = await engine.Client.find(clientId)
  if (client === undefined) throw new Error('unreachable')
  const { verifier, params } = createChallenge()
  const code = await new engine.AuthorizationCode({
    accountId: 'alice',
    client,
    grantId: id,
    gty: 'authorization_code',
    redirectUri: REDIRECT_URI,
    resource: RESOURCE,
    scope: 'sign-in',
    codeChallenge: params.code_challenge,
    codeChallengeMethod: params.code_challenge_method
  }).save()
  return {
    grantId: id,
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

export async function openReplicas (t: Test, { rotation = 'keeps', pauseMs = 12_000 }: {
  readonly rotation?: Rotation
  readonly pauseMs?: number
} = {}) {
  const memory = createMemoryStateStore()
  const faulty = new FaultyStore(memory, pauseMs)
  const identityProvider = createIdentityProvider(rotation)
  const sick = await openReplica(t, faulty.store, identityProvider)
  const well = await openReplica(t, memory, identityProvider)
  return {
    faulty, sick, well, identityProvider, memory, createCode: async () => await createCode(well.engine, well)
  }
}

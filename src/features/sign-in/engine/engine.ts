// The authorization server: OAuth 2.1 by oidc-provider.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/index

import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, Provider, type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import type { TokenVerifier } from '../../../platform/access/token.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import type { StateStore } from '../../../platform/store/records/state-store.ts'
import type { GrantRecords } from '../grants/grant-records.ts'
import { toConfiguration, type ConfigurationOptions } from './configuration.ts'
import { createDocuments, DocumentUnavailable } from './documents.ts'
import { createEngineAdapters } from './engine-adapter.ts'
import { logEngine, senderOf, senders, type EngineLog, type EngineSender } from './engine-log.ts'
import { readBack, showErrors } from './error-pages.ts'
import { toResource } from './metadata.ts'
import { createRefreshTokens } from './refresh-tokens.ts'
import { createRegistrations } from './registrations.ts'
import { createRevocation, UNSUPPORTED } from './revocation.ts'
import { orUnavailable, unavailable } from './unavailable.ts'

export interface EngineOptions extends ConfigurationOptions {
  readonly store: StateStore
  readonly sealer: Sealer
  readonly grants: GrantRecords
  /** Verifies the access tokens of the engine. */
  readonly verifier: TokenVerifier
  /**
   * Asks whether the person of a grant may still come in. Resolves to `undefined` if the grant has ended.
   * Rejects with an AuthenticationUnavailable.
   */
  readonly vouch: (grantId: string) => Promise<{ readonly scopes: ReadonlySet<string> } | undefined>
  readonly toErrorPage: (error: EngineError) => ErrorPage
  readonly log: EngineLog
}

export interface ErrorPage { readonly headers: Readonly<Record<string, string>>, readonly text: string }

export interface EngineError {
  readonly error: string
  readonly error_description?: string | undefined
  /** Where the client learns of the error, if the person goes there. */
  readonly back?: string
}

const FAILED = {
  error: 'server_error', error_description: 'The service could not do it. Try again in a few seconds.'
}

export function createEngine (options: EngineOptions) {
  const { issuer, resource, file, store, sealer, grants, verifier, vouch, toErrorPage, log } = options
  const documents = createDocuments({ ...file.clients, log })
  const registrations = createRegistrations(sealer)
  const refreshTokens = createRefreshTokens(sealer)
  const revoke = createRevocation(verifier, grants)

  /** A new token only for a person who may still come in, and with the scopes that the person still has. */
  const findAccount: NonNullable<Configuration['findAccount']> = async ({ oidc }, id, token) => {
    const { params = {} } = oidc
    if (typeof params.resource === 'string') params.resource = toResource(resource, params.resource)
    if (token instanceof engine.RefreshToken && token.consumed === undefined) {
      const person = await orUnavailable(vouch(String(token.grantId)))
      if (person === undefined) return undefined
      const lost = Object.keys(file.rules.scopes).filter((scope) => !person.scopes.has(scope))
      oidc.entities.Grant?.rejectResourceScope(resource, lost)
    }
    return { accountId: id, claims: () => ({ sub: id }) }
  }

  /** Each flow is a sign-in of its own, and its grant has been made for it. */
  const loadExistingGrant: Configuration['loadExistingGrant'] = async (ctx) => {
    const { provider, result } = ctx.oidc
    const id = result?.consent?.grantId
    // A neighbour of this host can set the cookies of the engine: a flow that one browser has begun and
    // another one has finished.
    if (id !== undefined && result?.way !== senderOf(ctx).way) {
      throw Object.assign(
        new errors.AccessDenied('the sign-in was finished in another browser'), { allow_redirect: false }
      )
    }
    return id === undefined ? undefined : await provider.Grant.find(id)
  }

  /** Names the client, and leaves of its registration only what counts. The engine calls it first. */
  function idFactory ({ oidc }: KoaContextWithOIDC): string {
    const metadata = registrations.select(oidc.body ?? {})
    Object.assign(oidc, { body: metadata })
    return registrations.toId(metadata)
  }

  /** A client whose document cannot be had for a while must not lose what it has. */
  async function allowFetch (ctx: KoaContextWithOIDC | undefined, id: string): Promise<boolean> {
    await documents.check(id, senderOf(ctx).network).catch((error: unknown) => {
      const hasTokens = ['token', 'revocation'].includes(String(ctx?.oidc.route))
      if (!hasTokens || !(error instanceof DocumentUnavailable)) throw error
      throw unavailable(String(error.error_description), error)
    })
    return true
  }

  const engine = new Provider(issuer, toConfiguration(options, {
    adapter: createEngineAdapters({
      store, grants, registrations, refreshTokens, readNetwork: () => senderOf(Provider.ctx).network
    }),
    fetch: async (url) => await documents.fetch(String(url)),
    findAccount,
    loadExistingGrant,
    idFactory,
    allowFetch,
    renderError (ctx, out, error) {
      const words = out.error === 'server_error' ? FAILED : out
      const { headers, text } = toErrorPage({ ...words, ...readBack(ctx, error, out) })
      ctx.set(headers)
      ctx.body = text
    }
  }))
  showErrors(engine, documents)
  Object.assign(engine.RefreshToken.prototype, {
    generateTokenId (this: { readonly grantId: string, readonly rotations?: number }) {
      return refreshTokens.write({ grantId: this.grantId, rotation: this.rotations ?? 0 })
    }
  })
  // It writes URLs and cookies by these headers, which the route sets.
  engine.proxy = true
  engine.use(async (ctx: KoaContextWithOIDC, next) => {
    await next()
    const body: unknown = ctx.body
    if (isObject(body)) {
      if (body.error === UNSUPPORTED) await revoke(ctx)
      else if (body.error === 'server_error') ctx.body = FAILED
      else if (ctx.status === 201) ctx.body = registrations.toAnswer(body)
    }
    if (ctx.status === 503) ctx.set('retry-after', '5')
  })
  logEngine(engine, log)
  const serve = engine.callback()
  return {
    engine,
    async serve (request: IncomingMessage, response: ServerResponse, sender: EngineSender): Promise<void> {
      senders.set(request, sender)
      await serve(request, response)
    }
  }
}

// The authorization server: OAuth 2.1 by oidc-provider. The only file that loads it.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/index

import type { IncomingMessage } from 'node:http'
import type { Configuration, JWKS, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'
import type { Sealer } from '../../../platform/store/sealing/sealer.ts'
import { DocumentRefused, DocumentUnavailable, type Documents } from './documents.ts'
import { createEngineAdapters, type EngineAdapterOptions } from './engine-adapter.ts'
import { loadEngine, logEngine, type EngineLog } from './engine-log.ts'
import { readBack, showErrors } from './error-pages.ts'
import { RegistrationRefused } from './registrations.ts'
import { leaveOutRepeatedScopes } from './repeated-scopes.ts'

/** What the engine gives to its adapters. */
type OwnOption = 'toInvalidClient' | 'toInvalidGrant' | 'toUnavailable' | 'readNetwork'

export interface EngineOptions extends Omit<EngineAdapterOptions, OwnOption> {
  readonly issuer: string
  /** The endpoint, for which tokens are. */
  readonly resource: string
  readonly jwks: JWKS
  readonly sealer: Pick<Sealer, 'derive'>
  readonly accessTokenSeconds: number
  readonly refreshTokenSeconds: number
  readonly grantSeconds: number
  /** The scopes that a token may have. */
  readonly scopes: readonly string[]
  /**
   * Asks whether the person of a grant may still come in. Resolves to `undefined` if the grant has ended.
   * Rejects with an AuthenticationUnavailable.
   */
  readonly vouch: (grantId: string) => Promise<{ readonly scopes: ReadonlySet<string> } | undefined>
  /** The networks of the requests that are served. */
  readonly networks: WeakMap<IncomingMessage, string>
  /** The ways to the identity provider on which browsers come back to the engine. */
  readonly ways: WeakMap<IncomingMessage, string>
  readonly toErrorPage: (error: EngineError) => ErrorPage
  readonly documents: Documents
  /** Whether clients may register themselves. */
  readonly hasRegistration: boolean
  readonly log: EngineLog
  /** Returns the log of a request. */
  readonly logOf: Parameters<typeof logEngine>[1]
}

export interface ErrorPage { readonly headers: Readonly<Record<string, string>>, readonly text: string }

export interface EngineError {
  readonly error: string
  readonly error_description?: string | undefined
  /** Where the client learns of the error, if the person goes there. */
  readonly back?: string
}

/** Paths below the issuer. */
export const ENGINE_ROUTES = {
  authorization: '/sign-in/authorize',
  jwks: '/sign-in/keys',
  registration: '/sign-in/register',
  revocation: '/sign-in/revoke',
  token: '/sign-in/token'
} as const

/** How clients prove who they are at the token endpoint. */
export const AUTH_METHODS = ['none', 'private_key_jwt'] as const
export const AUTH_ALGORITHMS = ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'] as const

/** Returns the resource for any way to write its URL. Some clients add the slash of an empty path. */
export function toResource (resource: string, text: string): string {
  return URL.parse(text)?.href === new URL(resource).href ? resource : text
}

export const CONSENT_PATH = '/sign-in/consent'
/** A parameter of a flow that was begun again, for the person. */
export const BEGINS_AGAIN = 'begins_again'

/** A flow that is not finished is kept for so long, in seconds. */
export const FLOW_SECONDS = 900
/** Another replica's clock may differ. The store keeps a code for a shorter time. */
const CODE_SECONDS = 180
/** The engine refuses a flow without any scope. It gets this one, which no token has. */
export const BASE_SCOPE = 'sign-in'

const FAILED = {
  error: 'server_error', error_description: 'The service could not do it. Try again in a few seconds.'
}

/** The draft of metadata documents that this engine implements. Another one must be looked at. */
const DOCUMENTS_DRAFT = 'draft-02'
/** How long a document counts, whatever its headers say. In seconds. */
const DOCUMENT_AGE = { min: 30, max: 3600 }

export async function createEngine (options: EngineOptions): Promise<Provider> {
  const library = await loadEngine(options.log)
  const { errors, Provider } = library
  const { registrations, refreshTokens, networks } = options
  const toUnavailable = (reason: string, cause: unknown) => Object.assign(
    new errors.TemporarilyUnavailable(reason, { cause }), { status: 503, statusCode: 503 }
  )
  const adapter = createEngineAdapters({
    ...options,
    toInvalidClient: (reason) => new errors.InvalidClientAuth(reason),
    toInvalidGrant: (reason) => new errors.InvalidGrant(reason),
    toUnavailable,
    readNetwork: () => Provider.ctx && networks.get(Provider.ctx.req)
  })

  /** A new token only for a person who may still come in, and with the scopes that the person still has. */
  const findAccount: NonNullable<Configuration['findAccount']> = async ({ oidc }, id, token) => {
    const { params = {} } = oidc
    if (typeof params.resource === 'string') params.resource = toResource(options.resource, params.resource)
    if (token instanceof engine.RefreshToken && token.consumed === undefined) {
      const person = await options.vouch(String(token.grantId)).catch((error: unknown) => {
        throw error instanceof AuthenticationUnavailable || error instanceof StoreUnavailable
          ? toUnavailable('try again', error)
          : error
      })
      if (person === undefined) return undefined
      const lost = options.scopes.filter((scope) => !person.scopes.has(scope))
      oidc.entities.Grant?.rejectResourceScope(options.resource, lost)
    }
    return { accountId: id, claims: () => ({ sub: id }) }
  }

  /** Names the client, and leaves of its registration only what counts. The engine calls it first. */
  function idFactory (ctx: KoaContextWithOIDC): string {
    const { oidc } = ctx
    const metadata = registrations.select(oidc.body ?? {})
    for (const name of Object.keys(oidc.body ?? {})) Reflect.deleteProperty(oidc.body ?? {}, name)
    Object.assign(oidc.body ?? {}, metadata)
    try {
      return registrations.toId(metadata)
    } catch (error) {
      if (!(error instanceof RegistrationRefused)) throw error
      throw new errors.InvalidClientMetadata(error.message)
    }
  }

  /** A client whose document cannot be had for a while must not lose what it has. */
  async function allowFetch (ctx: KoaContextWithOIDC | undefined, id: string): Promise<boolean> {
    try {
      await options.documents.check(id, ctx && networks.get(ctx.req))
      return true
    } catch (error) {
      const isRefused = error instanceof DocumentRefused
      if (!isRefused && !(error instanceof DocumentUnavailable)) throw error
      if (isRefused || !['token', 'revocation'].includes(String(ctx?.oidc.route))) {
        throw new errors.InvalidClient(error.message)
      }
      throw toUnavailable(error.message, error)
    }
  }

  const engine = new Provider(options.issuer, {
    ...toConfiguration(options, { idFactory, allowFetch }, errors),
    adapter,
    findAccount,
    interactions: toInteractions(options.issuer, library)
  })
  showErrors(engine, options.documents)
  Object.defineProperty(engine.RefreshToken.prototype, 'generateTokenId', {
    value (this: { readonly grantId: string, readonly rotations?: number }) {
      return refreshTokens.write({ grantId: this.grantId, rotation: this.rotations ?? 0 })
    }
  })
  leaveOutRepeatedScopes(engine, () => Provider.ctx)
  // It writes URLs and cookies by these headers, which the route sets.
  engine.proxy = true
  engine.use(async (ctx, next) => {
    await next()
    if (ctx.status === 503) ctx.set('retry-after', '5')
    const { body } = ctx
    if (!isObject(body)) return
    if (body.error === 'server_error') ctx.body = FAILED
    else if (ctx.status === 201) ctx.body = registrations.toAnswer(body)
  })
  logEngine(engine, options.logOf)
  return engine
}

/** Each flow asks for the consent and then for the sign-in, on one page, whatever its `prompt` is. */
function toInteractions (
  issuer: string, { interactionPolicy: { Check, Prompt } }: typeof import('oidc-provider')
): NonNullable<Configuration['interactions']> {
  const { pathname } = new URL(issuer)
  const first = new Check(
    'no_sign_in', 'the person has not signed in', ({ oidc }) => oidc.result === undefined
  )
  const toPrompt = (name: string) => new Prompt({ name, requestable: true }, first)
  return {
    policy: ['login', 'consent', 'select_account'].map(toPrompt),
    url: (_, { uid }) => `${pathname.replace(/\/$/, '')}${CONSENT_PATH}/${uid}`
  }
}

function toConfiguration (
  { resource, jwks, sealer, scopes, ways, toErrorPage, documents, hasRegistration, ...times }: EngineOptions,
  { idFactory, allowFetch }: {
    readonly idFactory: (ctx: KoaContextWithOIDC) => string
    readonly allowFetch: (ctx: KoaContextWithOIDC | undefined, id: string) => Promise<boolean>
  },
  errors: typeof import('oidc-provider')['errors']
): Configuration {
  const isSecure = resource.startsWith('https:')
  const prefix = isSecure ? '__Secure-' : ''
  const cookie = { httpOnly: true, sameSite: 'lax', secure: isSecure, overwrite: true } as const
  return {
    jwks,
    fetch: async (url) => await documents.fetch(String(url)),
    routes: ENGINE_ROUTES,
    scopes: [BASE_SCOPE, 'offline_access'],
    responseTypes: ['code'],
    clientAuthMethods: [...AUTH_METHODS],
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256'
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: [...AUTH_ALGORITHMS] },
    pkce: { required: () => true },
    cookies: {
      keys: sealer.derive('sign-in cookies', 32).map((key) => key.toString('base64url')),
      names: {
        session: `${prefix}sign-in-session`,
        interaction: `${prefix}sign-in-flow`,
        resume: `${prefix}sign-in-resume`
      },
      short: { ...cookie, signed: true },
      long: { ...cookie, signed: true }
    },
    // Each flow is a sign-in of its own, and its grant has been made for it.
    loadExistingGrant: async ({ req, oidc }) => {
      const id = oidc.result?.consent?.grantId
      // A neighbour of this host can set the cookies of the engine: a flow that one browser has begun and
      // another one has finished.
      if (id !== undefined && oidc.result?.way !== ways.get(req)) {
        throw Object.assign(
          new errors.AccessDenied('the sign-in was finished in another browser'), { allow_redirect: false }
        )
      }
      return id === undefined ? undefined : await oidc.provider.Grant.find(id)
    },
    expiresWithSession: () => false,
    extraParams: [BEGINS_AGAIN],
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    clientBasedCORS: ({ oidc }) => oidc.route === 'token',
    extraTokenClaims: (_, token) => ({ grant: 'grantId' in token ? token.grantId : undefined }),
    renderError (ctx, out, error) {
      const words = out.error === 'server_error' ? FAILED : out
      const { headers, text } = toErrorPage({ ...words, ...readBack(ctx, error, out) })
      ctx.set(headers)
      ctx.body = text
    },
    ttl: {
      AccessToken: times.accessTokenSeconds,
      AuthorizationCode: CODE_SECONDS,
      Grant: times.grantSeconds,
      IdToken: CODE_SECONDS,
      Interaction: FLOW_SECONDS,
      RefreshToken: times.refreshTokenSeconds,
      Session: CODE_SECONDS
    },
    features: {
      clientIdMetadataDocument: {
        enabled: true,
        ack: DOCUMENTS_DRAFT,
        cacheDuration: DOCUMENT_AGE,
        allowFetch
      },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: hasRegistration, idFactory, issueRegistrationAccessToken: false },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo (_, indicator) {
          if (indicator !== resource) throw new errors.InvalidTarget()
          return {
            scope: scopes.join(' '),
            audience: resource,
            accessTokenTTL: times.accessTokenSeconds,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } }
          }
        }
      }
    }
  }
}

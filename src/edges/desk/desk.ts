// The desk of `trivet dev`: an issuer that vouches for whatever caller its author picks. Its keys are of this
// process alone, and its tokens have a type and a claim of their own: no other service takes them.

import type { Server } from 'node:http'
import { AuthenticationUnavailable, reasonOf } from '../../platform/access/authentication.ts'
import type { Claims } from '../../platform/access/claims.ts'
import type { Principal } from '../../platform/access/principal.ts'
import { PRESETS } from '../../platform/access/token-rules.ts'
import type { TokenVerifier } from '../../platform/access/token.ts'
import { createSealer } from '../../platform/store/sealing/sealer.ts'
import { createSigningKeys } from '../../platform/store/sealing/signing-keys.ts'
import { clock, random } from '../../base/time.ts'

/** A caller as the author picks it. */
export interface DeskCaller {
  readonly subject?: string | undefined
  readonly clientId?: string | undefined
  readonly scopes: readonly string[]
  readonly claims?: Claims | undefined
}

export interface DeskOptions {
  /** The loopback address that the service listens on. 0 is the port of the address that it gets. */
  readonly host: string
  readonly port: number
  /** The path of the endpoint. */
  readonly endpoint: string
  /** The caller that the author begins with. */
  readonly caller: DeskCaller
  /** Whether the service checks no tokens: the desk then vouches for every caller. */
  readonly isOpen: boolean
}

export type Desk = ReturnType<typeof createDesk>

export const DESK_PATH = '/dev'
/** The `typ` of each token. The rules of other verifiers have other ones. */
const TOKEN_TYPE = 'trivet-dev+jwt'
const MARK = { trivet_dev: true }
const RULES = { ...PRESETS.standard, tokenTypes: [TOKEN_TYPE] }
const DAY_SECONDS = 86_400
const CODE_SECONDS = 60
const MAX_AGE_MS = 5 * 60_000
/** Servers refuse requests with larger headers. */
const MAX_TOKEN_CHARS = 12_288

/** Returns the issuer of a service that listens there. */
export function deskIssuerOf (host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${DESK_PATH}`
}

export function createDesk ({ host, port, endpoint, caller: firstCaller, isOpen }: DeskOptions) {
  const { current: { privateKey: key, publicKey }, jwks } = createSigningKeys(createSealer(undefined))
  let server: Server | undefined
  /** The verifier of tokens for an audience, with its keys. */
  let verifier: TokenVerifier | undefined

  /** Signs claims for an audience. Loads the library at the first token. */
  async function sign (claims: Claims, audience: string, lifeSeconds: number): Promise<string> {
    const { SignJWT } = await import('jose')
    const iat = Math.floor(clock.now() / 1000)
    const times = { iat, exp: iat + lifeSeconds, jti: random.uuid() }
    return await new SignJWT({ ...claims, ...MARK, iss: desk.issuer, aud: audience, ...times })
      .setProtectedHeader({ alg: 'ES256', kid: publicKey.kid, typ: TOKEN_TYPE }).sign(key)
  }

  async function toPerson (claims: Claims) {
    return { claims, tokens: { accessToken: await sign(claims, desk.issuer, DAY_SECONDS) } }
  }

  /** Whom codes and tokens are for. */
  const audiences = {
    get callback () { return `${desk.issuer}/sign-in` },
    get endpoint () { return `${new URL(desk.issuer).origin}${endpoint}` }
  }

  const desk = {
    firstCaller,
    jwks,

    /** Has its port when the service listens. */
    get issuer (): string {
      const address = server?.address()
      return deskIssuerOf(host, port === 0 && typeof address === 'object' ? address?.port ?? 0 : port)
    },

    listenWith (httpServer: Server): void { server = httpServer },

    /** Whether the caller was picked here, so that nothing but the desk may vouch for it to others. */
    vouchesFor: ({ issuer, subject }: Principal) => (
      isOpen || issuer === desk.issuer || subject?.startsWith(`${desk.issuer}|`) === true
    ),

    /** What the JWTs for upstreams have. */
    readSigner: () => ({ issuer: desk.issuer, key, kid: publicKey.kid, type: TOKEN_TYPE, mark: MARK }),

    /** Returns a token for the endpoint. Rejects with a TypeError for a caller that is too large. */
    async signFor ({ subject, clientId = 'console', scopes, claims }: DeskCaller): Promise<string> {
      const ownClaims = { ...subject !== undefined && { sub: subject }, client_id: clientId }
      const token = await sign(
        { ...claims, ...ownClaims, scope: scopes.join(' ') }, audiences.endpoint, 30 * DAY_SECONDS
      )
      if (token.length <= MAX_TOKEN_CHARS) return token
      throw new TypeError(`the token of a caller has at most ${MAX_TOKEN_CHARS} characters`)
    },

    /** Returns a token of the caller for another service, as an exchange does. */
    async exchange (
      { subject, clientId }: Principal, audience: string, scopes: readonly string[], lifeSeconds: number
    ): Promise<string> {
      const name = subject?.replace(`${desk.issuer}|`, '') ?? clientId
      return await sign({
        ...name !== undefined && { sub: name },
        ...clientId !== undefined && { client_id: clientId },
        scope: scopes.join(' ')
      }, audience, lifeSeconds)
    },

    /** Knows the tokens that `signFor` made. */
    verifier: {
      maxAgeMs: MAX_AGE_MS,
      async verify (token: string) {
        if (verifier === undefined) {
          const { createKnownJwtVerifier } = await import('../../platform/access/jwt-verifier.ts')
          verifier = createKnownJwtVerifier({
            issuer: desk.issuer, audiences: [audiences.endpoint], jwks: JSON.parse(jwks)
          }, RULES)
        }
        return await verifier.verify(token)
      }
    },

    /** Makes the code with which a person comes back from the page of the desk. */
    async toCode ({ subject: sub, claims }: DeskCaller, nonce: string): Promise<string> {
      // Entra names people by two other claims.
      const person = { tid: 'dev', oid: sub, ...claims, sub }
      return await sign({ nonce, person }, audiences.callback, CODE_SECONDS)
    },

    /** Takes the place of the identity provider: its page asks the author who signs in. */
    identityProvider: {
      get issuer () { return desk.issuer },
      begin: async ({ state, nonce }: Readonly<{ state: string, nonce: string }>) => {
        return `${desk.issuer}/sign-in?${new URLSearchParams({ state, nonce }).toString()}`
      },
      async end (query: string, { state, nonce }: Readonly<{ state: string, nonce: string }>) {
        const { jwtVerify } = await import('jose')
        const params = new URLSearchParams(query)
        try {
          const { payload: { person, ...passage } } = await jwtVerify<{ nonce: string, person: Claims }>(
            params.get('code') ?? '', publicKey,
            { issuer: desk.issuer, audience: audiences.callback, typ: TOKEN_TYPE }
          )
          if (params.get('state') !== state || passage.nonce !== nonce) throw new Error('another way')
          return await toPerson(person)
        } catch (error) {
          throw new AuthenticationUnavailable(`the desk gives no identity: ${reasonOf(error)}`)
        }
      },
      async renew (_refreshToken: string, { claims }: { readonly claims: Claims }) {
        const { tokens } = await toPerson(claims)
        return { tokens, identify: async () => ({ claims }) }
      }
    }
  }
  return desk
}

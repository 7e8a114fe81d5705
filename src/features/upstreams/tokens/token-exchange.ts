// Exchanges the token of a caller, at the issuer of that token, for one that another service accepts.

import { LRUCache } from 'lru-cache'
import { clock } from '../../../base/time.ts'
import { unlessAborted } from '../../../base/deadline.ts'
import { AuthenticationUnavailable } from '../../../platform/access/authentication.ts'
import type { AuthorizationServerOptions } from '../../../platform/access/authorization-servers.ts'
import { FETCH_LIMITS } from '../../../platform/access/bounded-fetch.ts'
import type { CallerTokens } from '../../../platform/access/caller-tokens.ts'
import type { ClientCredentials } from '../../../platform/access/client-authentication.ts'
import { ownerOf, subjectOf, type Principal } from '../../../platform/access/principal.ts'
import {
  createServerGuard, type ServerGuard, type ServerGuardOptions
} from '../../../platform/access/server-guard.ts'
import {
  openTokenEndpoint, TokenRefused, type IssuedToken, type TokenEndpoint
} from './token-endpoint.ts'
import { toExchangeRequest, toRefreshRequest, type ExchangeTarget } from './token-requests.ts'
import type { SignedInCallers } from '../../../platform/access/signed-in-callers.ts'
import { CLOCK_LEEWAY_MS, type ExchangeForm } from '../../../platform/access/token-rules.ts'
import { hashToken } from '../../../platform/access/token.ts'
import type { KeptToken } from '../../../request/pipeline/seams.ts'

export interface TokenExchangeOptions
  extends AuthorizationServerOptions, Pick<ServerGuardOptions, 'maxAsking' | 'maxWaiting'> {
  readonly issuers: readonly string[]
  readonly tokens: CallerTokens
  /** The identity of this service at the issuers. */
  readonly client?: ClientCredentials | undefined
  /** Absent if this service signs nobody in. */
  readonly signedIn?: SignedInCallers | undefined
  /** `token-exchange` by default. */
  readonly form?: ExchangeForm | undefined
  /** How many exchanged tokens are cached, and how many refusals are remembered. 10 000 by default. */
  readonly maxTokens?: number
}

/** The caller has no token that can be exchanged. */
export class NothingToExchange extends Error {
  constructor (message: string) {
    super(message)
    this.name = 'NothingToExchange'
  }
}

interface CachedToken {
  readonly token: string
  /** When it is exchanged again, in milliseconds of the monotonic clock. So are all times here. */
  readonly until: number
  /** It is not dropped before: it took the place of one that was refused. */
  readonly staysUntil: number
}

interface Subject extends Issuer {
  readonly issuer: string
  /** Names what is exchanged, in the key of the cache. */
  readonly name: string
}

interface Issuer {
  readonly request: TokenEndpoint
  readonly guard: ServerGuard
  readonly form: ExchangeForm
  readonly subjects: Pick<SignedInCallers, 'nameOf' | 'read'>
}

const MAX_AGE_MS = 5 * 60_000
const REFUSED_MAX_AGE_MS = 5000
/** How often a token that is refused again and again is exchanged anew, in milliseconds. */
export const RENEWAL_PAUSE_MS = 5000
/** How long an issuer that failed is not asked again, in milliseconds. */
export const COOLDOWN_MS = 5000
/** Each request of a caller waits for one exchange at a time. */
const MAX_WAITING = 2000

/**
 * Caches exchanged tokens for one owner, one token of that owner and one target: a weaker token of the same
 * subject never gets what another was exchanged for.
 *
 * How long a token can be used that was taken back:
 * - The caller's token. The exchange happens anew after five minutes at most, and the issuer then refuses it.
 *   Requests with it end earlier where the authenticator learns of it: within a minute by introspection.
 * - The exchanged token. The cache drops it after the first call that the upstream refuses with 401.
 * A token that an upstream does not ask the issuer about counts there until it expires.
 */
export class TokenExchange {
  readonly #issuers: ReadonlyMap<string, Issuer>
  readonly #cache: LRUCache<string, CachedToken>
  readonly #refusals: LRUCache<string, { readonly error: TokenRefused, readonly until: number }>
  /** When a key was dropped, plus the pause before it may be dropped again. */
  readonly #renewals: LRUCache<string, number>
  readonly #running = new Map<string, Promise<string>>()

  /**
   * Throws a TypeError if an issuer or the client cannot be used. A secret belongs to one issuer: the others
   * must not learn it. An assertion that a private key signs is for one issuer by itself.
   */
  constructor (options: TokenExchangeOptions) {
    const { issuers, client, form, signedIn, tokens, maxTokens: max = 10_000 } = options
    if (issuers.length > 1 && client?.privateKey === undefined) {
      throw new TypeError('a client with a secret exchanges tokens of one issuer only')
    }
    const { limits: { timeoutMs } = FETCH_LIMITS, cooldownMs = COOLDOWN_MS } = options
    const guardOptions = {
      maxWaiting: MAX_WAITING,
      ...options,
      cooldownMs,
      patienceMs: timeoutMs,
      now: clock.monotonic,
      holders: 'principal',
      isFailure
    } as const
    const callers = {
      nameOf (principal: Principal) {
        const token = tokens.of(principal)
        return token === undefined ? undefined : hashToken(token)
      },
      read: async (principal: Principal) => tokens.of(principal)
    }
    const parties = [
      ...client === undefined
        ? []
        : issuers.map((issuer) => ({ ...callers, issuer, server: issuer, client, form })),
      ...signedIn === undefined ? [] : [signedIn]
    ]
    this.#issuers = new Map(parties.map(({ issuer, server, form = 'token-exchange', ...party }) => [issuer, {
      request: openTokenEndpoint({ ...options, client: party.client, issuer: server, now: clock.monotonic }),
      guard: createServerGuard(guardOptions),
      form,
      subjects: party
    }]))
    this.#cache = new LRUCache({ max })
    this.#refusals = new LRUCache({ max })
    this.#renewals = new LRUCache({ max })
  }

  /** How many exchanged tokens are cached. */
  get size (): number { return this.#cache.size }

  /**
   * Returns, or resolves to, a token for the target. Throws or rejects with a NothingToExchange, a
   * TokenRefused, an AuthenticationUnavailable, or the reason of the signal. The exchange goes on for others
   * who wait for it.
   */
  tokenFor (principal: Principal, target: ExchangeTarget, signal?: AbortSignal): string | Promise<string> {
    const subject = this.#subjectOf(principal)
    const key = toKey(principal, subject.name, target)
    const now = clock.monotonic()
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.until > now) return cached.token
    const refusal = this.#refusals.get(key)
    if (refusal !== undefined && refusal.until > now) throw refusal.error
    let running = this.#running.get(key)
    if (running === undefined) {
      running = this.#exchange(key, principal, subject, target).finally(() => this.#running.delete(key))
      this.#running.set(key, running)
      // All who wait for it may be gone.
      running.catch(() => {})
    }
    return unlessAborted(running, signal)
  }

  /**
   * Drops a token that the target has refused. Returns whether `tokenFor` may give another one. A target that
   * refuses every token causes one exchange in five seconds.
   */
  forget (principal: Principal, target: ExchangeTarget, refused: string): boolean {
    const subject = this.#findSubject(principal)
    if (subject === undefined) return false
    const key = toKey(principal, subject.name, target)
    const now = clock.monotonic()
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.token !== refused && cached.until > now) return true
    if (this.#running.has(key)) return true
    if ((cached?.staysUntil ?? this.#renewals.get(key) ?? -Infinity) > now) return false
    this.#cache.delete(key)
    this.#renewals.set(key, now + RENEWAL_PAUSE_MS)
    return true
  }

  /** Exchanges the token for what a task keeps. The cache is not asked: its tokens have lived already. */
  async exchangeToKeep (principal: Principal, target: ExchangeTarget): Promise<KeptToken> {
    const { issuer, request, guard, form, subjects } = this.#subjectOf(principal)
    const token = await readToken(subjects, principal)
    const exchange = toExchangeRequest(form, token, { ...target, isKept: true })
    const issued = await guard(async () => await request(exchange), subjectOf(principal))
    return toKept(issuer, target, notItself(issued, token))
  }

  /**
   * Renews a kept token with its refresh token: RFC 6749, section 6. An issuer may take the old refresh token
   * back with this request, so the new one is kept before it is used.
   * @param keep must resolve once the new token is durable. If it rejects, so does the result.
   */
  async renew (
    principal: Principal, token: KeptToken, target: ExchangeTarget, keep: (next: KeptToken) => Promise<void>
  ): Promise<KeptToken> {
    const { issuer, refreshToken } = token
    if (refreshToken === undefined) throw new NothingToExchange('the kept token has no refresh token')
    const { request, guard } = this.#open(issuer)
    const refresh = toRefreshRequest(refreshToken, target)
    const issued = await guard(async () => await request(refresh), subjectOf(principal))
    const renewed = { refreshToken, ...toKept(issuer, target, issued) }
    await keep(renewed)
    return renewed
  }

  #open (issuer: string): Issuer {
    const open = this.#issuers.get(issuer)
    if (open === undefined) throw new NothingToExchange(`${issuer} is not one of the issuers any more`)
    return open
  }

  #findSubject (principal: Principal): Subject | undefined {
    const { issuer = '' } = principal
    const party = this.#issuers.get(issuer)
    const name = party?.subjects.nameOf(principal)
    return party === undefined || name === undefined ? undefined : { ...party, issuer, name }
  }

  #subjectOf (principal: Principal): Subject {
    const subject = this.#findSubject(principal)
    if (subject !== undefined) return subject
    throw new NothingToExchange('the caller has no token of an issuer that exchanges tokens')
  }

  async #exchange (
    key: string, principal: Principal, { request, guard, form, subjects }: Subject, target: ExchangeTarget
  ): Promise<string> {
    try {
      const token = await readToken(subjects, principal)
      const issued = notItself(await guard(
        async () => await request(toExchangeRequest(form, token, target)), subjectOf(principal)
      ), token)
      this.#add(key, issued, principal)
      if (issued.missingScopes.length > 0) target.onMissingScopes?.(issued.missingScopes)
      return issued.accessToken
    } catch (error) {
      if (error instanceof TokenRefused) {
        this.#refusals.set(key, { error, until: clock.monotonic() + REFUSED_MAX_AGE_MS })
      }
      throw error
    }
  }

  #add (key: string, { accessToken: token, lifeMs }: IssuedToken, { expiresAt = Infinity }: Principal): void {
    const now = clock.monotonic()
    const ownMs = usableMs(lifeMs)
    // The time of the caller's token is the issuer's. All others are lengths of time: no clock matters.
    const ms = Math.min(ownMs, expiresAt - clock.now(), MAX_AGE_MS)
    if (ms <= 0) return
    this.#cache.set(key, { token, until: now + ms, staysUntil: this.#renewals.get(key) ?? -Infinity })
  }
}

/** Returns how long a token is used, in milliseconds: it must still count when the request arrives. */
export function usableMs (lifeMs: number): number {
  return lifeMs - Math.min(CLOCK_LEEWAY_MS, lifeMs / 2)
}

async function readToken (subjects: Issuer['subjects'], principal: Principal): Promise<string> {
  const token = await subjects.read(principal)
  if (token !== undefined) return token
  throw new NothingToExchange('the token of the caller has been taken back')
}

/** Throws if the issuer gave the caller's own token: it must reach no upstream. */
function notItself (issued: IssuedToken, token: string): IssuedToken {
  if (issued.accessToken !== token) return issued
  throw new AuthenticationUnavailable('the issuer answered an exchange with the token itself')
}

function toKept (
  issuer: string, target: ExchangeTarget, { accessToken, refreshToken, lifeMs }: IssuedToken
): KeptToken {
  return {
    issuer,
    target: toTargetName(target),
    accessToken,
    expiresAt: clock.now() + lifeMs,
    ...(refreshToken !== undefined && { refreshToken })
  }
}

/** Returns whom a token is for. Scopes say it where a definition has nothing else. */
export function toTargetName ({ audience, resource, scopes = [] }: ExchangeTarget): string {
  return JSON.stringify(audience === undefined && resource === undefined ? scopes : [audience, resource])
}

/** The owner has the issuer, the subject and the client. */
function toKey (principal: Principal, name: string, target: ExchangeTarget): string {
  const { audience, resource, scopes = [] } = target
  return JSON.stringify([ownerOf(principal), name, audience, resource, scopes])
}

function isFailure (error: unknown): boolean {
  return error instanceof AuthenticationUnavailable
}

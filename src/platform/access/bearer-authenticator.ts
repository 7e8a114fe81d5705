// Authentication by access tokens in the Authorization header.

import { LRUCache } from 'lru-cache'
import { clock } from '../../base/time.ts'
import {
  AuthenticationError, AuthenticationUnavailable, TokenNotKnown, type Authenticator, type TokenSender
} from './authentication.ts'
import { CallerTokens } from './caller-tokens.ts'
import { ANONYMOUS, ownerOf, type Principal } from './principal.ts'
import { hashToken, readBearerToken, type TokenVerifier } from './token.ts'

export interface BearerAuthenticatorOptions {
  /** Whether a request without a token is anonymous. It is refused by default. */
  readonly anonymous?: boolean
  /** How many verified tokens are cached. 10 000 by default. */
  readonly maxTokens?: number
  /** Gets the token of each principal. */
  readonly tokens?: CallerTokens
  readonly now?: () => number
}

export interface BearerAuthenticator extends Authenticator {
  isStillValid (principal: Principal): Promise<boolean>
  /** Closes the verifiers. */
  close (): Promise<void>
}

interface CachedPrincipal {
  readonly principal: Principal
  readonly until: number
}

/**
 * The characters of all cached tokens. What is cached of a JWT, its claims, takes four times the bytes of its
 * text or more: 10,000 tokens of the longest kind would have 700 MB.
 */
const MAX_CHARACTERS = 33_554_432
/** The longest time that a token is cached, whatever its verifier allows. */
const MAX_AGE_MS = 5 * 60_000

/** Asks the verifiers in order. The first that knows the token decides. A cached token needs no promise. */
export function createBearerAuthenticator (
  verifiers: readonly TokenVerifier[],
  options: BearerAuthenticatorOptions = {}
): BearerAuthenticator {
  const { anonymous = false, maxTokens = 10_000, tokens = new CallerTokens(), now = clock.now } = options
  const cache = new LRUCache<string, CachedPrincipal>({ max: maxTokens, maxSize: MAX_CHARACTERS })
  // Requests with one token share its verification.
  const verifying = new Map<string, Promise<Principal>>()

  async function verify (token: string, key: string, network?: string): Promise<Principal> {
    // A verifier may be slow, or this process may be paused: what it then says is as old.
    const startedAt = now()
    try {
      const { principal, maxAgeMs } = await verifyByFirst(verifiers, token, network)
      const until = Math.min(startedAt + Math.min(maxAgeMs, MAX_AGE_MS), principal.expiresAt ?? Infinity)
      if (until > now()) cache.set(key, { principal, until }, { size: token.length })
      tokens.add(principal, token)
      return principal
    } finally {
      verifying.delete(key)
    }
  }

  function authenticateToken (token: string, sender?: TokenSender): Principal | Promise<Principal> {
    const key = hashToken(token)
    const entry = cache.get(key)
    if (entry !== undefined) {
      if (entry.until > now()) return entry.principal
      cache.delete(key)
    }
    sender?.checkRoom()
    const running = verifying.get(key)
    if (running !== undefined) return running
    const verification = verify(token, key, sender?.network)
    verifying.set(key, verification)
    return verification
  }

  return {
    authenticate (authorization, sender) {
      const token = readBearerToken(authorization)
      if (token === undefined) {
        if (anonymous) return ANONYMOUS
        throw new AuthenticationError(undefined, 'the request has no bearer token')
      }
      return authenticateToken(token, sender)
    },
    async isStillValid (principal) {
      const token = tokens.of(principal)
      if (token === undefined) return true
      try {
        return covers(await authenticateToken(token), principal)
      } catch (error) {
        if (error instanceof AuthenticationError) return false
        throw error
      }
    },
    async close () {
      cache.clear()
      await Promise.all(verifiers.map(async (verifier) => await verifier.close?.()))
    }
  }
}

/** Whether the principal is the same as before, with all scopes that it had. */
function covers (principal: Principal, before: Principal): boolean {
  return principal === before || (
    ownerOf(principal) === ownerOf(before) && [...before.scopes].every((scope) => principal.scopes.has(scope))
  )
}

async function verifyByFirst (
  verifiers: readonly TokenVerifier[], token: string, network: string | undefined
): Promise<{ readonly principal: Principal, readonly maxAgeMs: number }> {
  const reasons: string[] = []
  let unavailable: AuthenticationUnavailable | undefined
  for (const verifier of verifiers) {
    try {
      return { principal: await verifier.verify(token, network), maxAgeMs: verifier.maxAgeMs }
    } catch (error) {
      if (error instanceof TokenNotKnown) reasons.push(error.message)
      else if (error instanceof AuthenticationUnavailable) unavailable ??= error
      else throw error
    }
  }
  const reason = `no verifier knows the token: ${reasons.join('; ')}`
  throw unavailable ?? new AuthenticationError('invalid_token', reason)
}

// Verifies the access tokens that the service itself has issued: by its own keys, and by a look whether the
// grant still exists.

import type { JSONWebKeySet } from 'jose'
import { LRUCache } from 'lru-cache'
import { clock } from '../../../base/time.ts'
import {
  AuthenticationError, AuthenticationUnavailable, reasonOf
} from '../../../platform/access/authentication.ts'
import { createKnownJwtVerifier } from '../../../platform/access/jwt-verifier.ts'
import type { Principal } from '../../../platform/access/principal.ts'
import { PRESETS } from '../../../platform/access/token-rules.ts'
import { hashToken, type TokenVerifier } from '../../../platform/access/token.ts'
import type { GrantRecords } from './grant-records.ts'
import { grantOf } from './provider-tokens.ts'

/** How long a grant that has ended may still count, in milliseconds. */
const GRANT_MAX_AGE_MS = 2000
const MAX_TOKENS = 10_000
/** The characters of all tokens. Their claims take four times the bytes. */
const MAX_CHARACTERS = 33_554_432

export interface OwnTokensOptions {
  readonly issuer: string
  readonly resource: string
  readonly jwks: JSONWebKeySet
  readonly grants: Pick<GrantRecords, 'isLive'>
}

export function createOwnTokenVerifier (
  { issuer, resource, jwks, grants }: OwnTokensOptions
): TokenVerifier {
  const verifier = createKnownJwtVerifier({ issuer, audiences: [resource], jwks }, PRESETS.standard)
  const verified = new LRUCache<string, Principal>({ max: MAX_TOKENS, maxSize: MAX_CHARACTERS })
  return {
    maxAgeMs: GRANT_MAX_AGE_MS,
    async verify (token) {
      const key = hashToken(token)
      const principal = verified.get(key) ?? await verifier.verify(token)
      verified.set(key, principal, { size: token.length })
      const { expiresAt = 0 } = principal
      const grant = grantOf(principal)
      if (expiresAt <= clock.now()) throw new AuthenticationError('invalid_token', 'the token has expired')
      if (grant === undefined || !await isLive(grant)) {
        throw new AuthenticationError('invalid_token', 'the grant of the token has ended')
      }
      return principal
    }
  }

  async function isLive (grant: string): Promise<boolean> {
    try {
      return await grants.isLive(grant)
    } catch (error) {
      throw new AuthenticationUnavailable(`the grant cannot be looked up: ${reasonOf(error)}`)
    }
  }
}

// Verifies access tokens that are JWTs, with the keys that their issuers publish. RFC 9068, RFC 8725.

import {
  createLocalJWKSet, decodeJwt, errors, jwtVerify, type CryptoKey, type JSONWebKeySet, type JWTVerifyOptions,
  type JWTVerifyResult
} from 'jose'
import { cut } from '../../base/text.ts'
import { AuthenticationError, AuthenticationUnavailable, reasonOf, TokenNotKnown } from './authentication.ts'
import { openIssuer, type AuthorizationServerOptions } from './authorization-servers.ts'
import { toPrincipal } from './claims.ts'
import { createIssuerKeys, type IssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'
import type { Principal } from './principal.ts'
import { audiencesOf, CLOCK_LEEWAY_MS, type AcceptedAudience, type TokenRules } from './token-rules.ts'
import type { TokenVerifier } from './token.ts'

export interface JwtVerifierOptions extends AuthorizationServerOptions, IssuerKeysOptions {
  /** Compared with `iss` exactly: a slash at the end counts. */
  readonly issuers: readonly string[]
  readonly audiences: readonly AcceptedAudience[]
  readonly rules: TokenRules
}

interface TrustedIssuer {
  readonly issuer: string
  readonly audiences: string[]
  readonly findKey: IssuerKeys
}

/** An issuer whose keys this service has. */
interface KnownIssuer extends Omit<TrustedIssuer, 'findKey'> { readonly jwks: JSONWebKeySet }

const MAX_AGE_MS = 5 * 60_000
/** How many keys are tried for a token that names none. Servers publish a few. */
const MAX_KEYS = 10
/** Only asymmetric ones. A key that verifies tokens of other algorithms can also make them. */
const ALGORITHMS = [
  'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'
]

/** Throws a TypeError if an issuer is not a URL that may be asked, or has no accepted audience. */
export function createJwtVerifier (options: JwtVerifierOptions): TokenVerifier {
  const { issuers, audiences, rules } = options
  return createVerifier(issuers.map((issuer) => ({
    issuer,
    audiences: audiencesOf(issuer, audiences),
    findKey: createIssuerKeys(openIssuer(issuer, options), options)
  })), rules)
}

/** Creates a verifier that asks nobody. */
export function createKnownJwtVerifier ({ jwks, ...issuer }: KnownIssuer, rules: TokenRules): TokenVerifier {
  return createVerifier([{ ...issuer, findKey: createLocalJWKSet(jwks) }], rules)
}

function createVerifier (issuers: readonly TrustedIssuer[], rules: TokenRules): TokenVerifier {
  const trusted = new Map(issuers.map((issuer) => [issuer.issuer, issuer]))
  return {
    maxAgeMs: MAX_AGE_MS,
    async verify (token) {
      const iss = readUnverifiedIssuer(token)
      const issuer = trusted.get(iss)
      if (issuer === undefined) {
        throw new TokenNotKnown(`the issuer ${cut(iss, 200)} is none of ${[...trusted.keys()].join(', ')}`)
      }
      return await verifyJwt(token, issuer, rules)
    }
  }
}

function readUnverifiedIssuer (token: string): string {
  try {
    const { iss } = decodeJwt(token)
    if (typeof iss === 'string') return iss
  } catch {
    throw new TokenNotKnown('the token is not a JWT')
  }
  throw new AuthenticationError('invalid_token', 'the JWT has no issuer')
}

async function verifyJwt (
  token: string, { issuer, audiences, findKey }: TrustedIssuer, rules: TokenRules
): Promise<Principal> {
  try {
    const verified = await verifySignature(token, findKey, {
      algorithms: ALGORITHMS,
      issuer,
      audience: audiences,
      clockTolerance: CLOCK_LEEWAY_MS / 1000,
      requiredClaims: ['exp']
    })
    checkType(verified, rules)
    return toPrincipal(verified.payload, issuer, rules)
  } catch (error) {
    if (error instanceof AuthenticationError || error instanceof AuthenticationUnavailable) throw error
    throw new AuthenticationError('invalid_token', `the JWT is not valid: ${describe(error)}`)
  }
}

/** A token and keys without `kid` leave open which key it is. */
async function verifySignature (
  token: string, findKey: IssuerKeys, options: JWTVerifyOptions
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, findKey, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    return await verifyWithAny(token, error, options)
  }
}

async function verifyWithAny (
  token: string, keys: AsyncIterable<CryptoKey>, options: JWTVerifyOptions
): Promise<JWTVerifyResult> {
  let tries = 0
  for await (const key of keys) {
    if (++tries > MAX_KEYS) break
    try {
      return await jwtVerify(token, key, options)
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

function describe (error: unknown): string {
  const isTooEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf'
  return isTooEarly && error.reason === 'check_failed'
    ? 'it is not valid yet by its "nbf" claim. The clock of this machine may be behind'
    : reasonOf(error)
}

function checkType ({ protectedHeader: { typ } }: JWTVerifyResult, { tokenTypes }: TokenRules): void {
  // The library checks the type of `alg` and `kid` only.
  const text: unknown = typ ?? 'none'
  const type = typeof text === 'string' ? text.toLowerCase().replace(/^application\//, '') : 'not a text'
  if (tokenTypes.includes(type)) return
  throw new AuthenticationError('invalid_token', `the typ of the JWT is ${cut(type, 200)}, ` +
    `and only ${tokenTypes.join(', ')} is accepted`)
}

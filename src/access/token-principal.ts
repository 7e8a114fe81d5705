// The principal of a verified token.

import { AuthenticationError } from './authentication-error.ts'
import { freezeDeeply, readClaim, readFirstText, readGrantedScopes, type Claims } from './claims.ts'
import type { Principal } from './principal.ts'
import type { TokenRules } from './token-rules.ts'

/** The last time that a Date can have. */
const MAX_TIME_MS = 8.64e15

/**
 * The principal of verified claims. Throws an AuthenticationError if nobody could tell it from others: each
 * principal has a subject or a client.
 */
export function toPrincipal (claims: Claims, issuer: string, rules: TokenRules): Principal {
  // Such a token counts only with a proof of the key, by DPoP or mutual TLS. Alone it may be stolen.
  if (claims['cnf'] !== undefined) throw refuse('the token is bound to a key, so it is no bearer token')
  checkFixedClaims(claims, rules)
  const clientId = readFirstText(claims, rules.clientClaims)
  const subject = readSubject(claims, clientId, rules)
  if (subject === undefined && clientId === undefined) {
    const names = [...rules.subjectClaims, ...rules.clientClaims]
    throw refuse(`the token has none of the claims ${names.join(', ')}`)
  }
  const { exp } = claims
  return Object.freeze({
    issuer,
    scopes: new Set(rules.scopeClaims.flatMap((claim) => readGrantedScopes(claims, claim))),
    // Several requests share the principal, so none may change it.
    claims: freezeDeeply(claims),
    ...(subject !== undefined && { subject }),
    ...(clientId !== undefined && { clientId }),
    ...(typeof exp === 'number' && { expiresAt: Math.min(exp * 1000, MAX_TIME_MS) })
  })
}

function readSubject (claims: Claims, clientId: string | undefined, rules: TokenRules): string | undefined {
  const subject = readFirstText(claims, rules.subjectClaims)
  // Without this, all subjects that lack the claim would be one principal: their client.
  if (subject === undefined && claims['sub'] !== undefined && claims['sub'] !== clientId) {
    throw refuse(`the token has a subject, and none of the claims ${rules.subjectClaims.join(', ')}`)
  }
  return subject
}

function checkFixedClaims (claims: Claims, { fixedClaims = {} }: TokenRules): void {
  for (const [name, accepted] of Object.entries(fixedClaims)) {
    const value = readClaim(claims, name)
    if (value !== undefined && !accepted.some((text) => text === value)) {
      throw refuse(`the claim ${name} is none of ${accepted.join(', ')}`)
    }
  }
}

function refuse (message: string): AuthenticationError {
  return new AuthenticationError('invalid_token', message)
}

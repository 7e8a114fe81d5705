// Reads the claims of a verified token, and the principal that they name. Claims are JSON of somebody else:
// each may be absent or of another type.

import { AuthenticationError } from './authentication.ts'
import type { Principal } from './principal.ts'
import type { TokenRules } from './token-rules.ts'

export interface Claims {
  readonly [name: string]: unknown
}

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

/** The claim with this name. If there is none, each dot of the name leads into an object. */
export function readClaim (claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
  }
  return value
}

/** The text of the first claim that has one. */
function readFirstText (claims: Claims, names: readonly string[]): string | undefined {
  return names.map((name) => readClaim(claims, name)).find(isText)
}

/** The scopes of a claim: a text with spaces between, or a list. */
function readGrantedScopes (claims: Claims, name: string): readonly string[] {
  const value = readClaim(claims, name)
  if (typeof value === 'string') return value.split(' ').filter(isText)
  return Array.isArray(value) ? value.filter(isText) : []
}

/** Without recursion, because a value of a few kilobytes may be nested thousands of times. */
function freezeDeeply<T extends object> (root: T): T {
  const waiting: object[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    for (const inner of Object.values(value)) {
      if (typeof inner === 'object' && inner !== null) waiting.push(inner)
    }
    Object.freeze(value)
  }
  return root
}

function isText (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isObject (value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

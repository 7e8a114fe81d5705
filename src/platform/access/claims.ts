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
  checkKind(claims, rules)
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

/** Types of a token that anybody may use who holds it: a DPoP token needs a proof. */
const BEARER_TYPES = ['bearer', 'access_token', 'access']
const ACCESS_USES = ['access', 'access_token']
/** Values of the claim `typ`, which is not registered. Servers write many others for access tokens. */
const OTHER_KINDS = ['id', 'id_token', 'refresh', 'refresh_token', 'offline', 'logout', 'dpop']
/** Hashes of what an ID token came with: OpenID Connect Core, section 3.3.2.11. */
const ID_TOKEN_CLAIMS = ['at_hash', 'c_hash', 's_hash']

/** Refresh tokens and ID tokens have the subject and the issuer of access tokens, and often the audience. */
function checkKind (claims: Claims, { takesIdTokens = false, accessClaims }: TokenRules): void {
  const { token_type: type, token_use: use, typ } = claims
  if (!isAbsentOrOneOf(type, BEARER_TYPES)) throw refuse('its token_type is not Bearer')
  if (!isAbsentOrOneOf(use, ACCESS_USES)) throw refuse('its token_use is not access')
  if (typeof typ === 'string' && OTHER_KINDS.includes(typ.toLowerCase())) {
    throw refuse('its claim typ says that it is no access token')
  }
  if (!takesIdTokens && ID_TOKEN_CLAIMS.some((name) => claims[name] !== undefined)) {
    throw refuse('it has claims of an ID token')
  }
  if (accessClaims?.some((name) => isText(claims[name])) === false) {
    throw refuse(`it has none of ${accessClaims.join(', ')}, so it is no access token`)
  }
}

/** Some servers write `null` for what is absent. */
function isAbsentOrOneOf (value: unknown, accepted: readonly string[]): boolean {
  if (value === undefined || value === null) return true
  return typeof value === 'string' && accepted.includes(value.toLowerCase())
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

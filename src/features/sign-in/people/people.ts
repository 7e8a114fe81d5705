// Recognizes people by the claims that the identity provider vouches for: whether they may come in, and which
// scopes they have.

import { readClaim, type Claims } from '../../../platform/access/claims.ts'

/** What a claim must be: one of these texts, or a list that has one of them. */
export interface ClaimRule { readonly claim: string, readonly anyOf: readonly string[] }

/** Claims that may be a list as one text. A name or an address with spaces is not: its owner chooses it. */
const WORD_LISTS = /(?:^|\.)(?:scope|scp|roles|groups|permissions|entitlements)$/

export interface PeopleRules {
  /** All of these must hold. */
  readonly admit: readonly ClaimRule[]
  /** The scopes of everybody, and of those for whom a rule holds. */
  readonly scopes: { readonly [scope: string]: 'everyone' | ClaimRule }
  /** The claims whose values together tell a person from all others of the issuer. */
  readonly subjectClaims: readonly string[]
}

export interface Person {
  /** Tells the person from all others, of other issuers too. */
  readonly subject: string
  readonly scopes: ReadonlySet<string>
}

/** The line of the log with what `recognize` reports. */
export const RULE_BROKEN = 'a rule of sign-in.yaml does not hold for a person'

/**
 * Returns `undefined` for somebody who may not come in.
 * @param report called with what an operator should know: why, and which claims the provider left out.
 */
export function recognize (
  claims: Claims, issuer: string, rules: PeopleRules, report: (reason: string) => void
): Person | undefined {
  const names = rules.subjectClaims.map((claim) => readClaim(claims, claim))
  if (!names.every((name) => typeof name === 'string' && name !== '')) {
    report(`the provider does not say who the person is, in the claims ${rules.subjectClaims.join(' and ')}`)
    return undefined
  }
  for (const claim of claimsIn(rules).filter((name) => isLeftOut(name, claims))) {
    report(`the provider left out the claim ${claim}, because it has too many values: no rule on it holds`)
  }
  const refusing = rules.admit.find((rule) => !holds(rule, claims))
  if (refusing !== undefined) {
    report(`the person may not come in: the rule of admit on the claim ${refusing.claim} does not hold`)
    return undefined
  }
  const scopes = Object.entries(rules.scopes).flatMap(
    ([scope, rule]) => rule === 'everyone' || holds(rule, claims) ? [scope] : []
  )
  return { subject: [issuer, ...names].join('|'), scopes: new Set(scopes) }
}

/** Returns the claims that the rules read. */
export function claimsIn ({ admit, scopes }: PeopleRules): readonly string[] {
  const rules = [...admit, ...Object.values(scopes).filter((rule) => rule !== 'everyone')]
  const names = rules.map(({ claim }) => claim)
  return [...new Set(names.includes('email') ? [...names, 'email_verified'] : names)]
}

function holds ({ claim, anyOf }: ClaimRule, claims: Claims): boolean {
  const value = readClaim(claims, claim)
  // Anybody can write any address into an account.
  if (claim === 'email' && claims['email_verified'] !== true) return false
  if (typeof value === 'string') {
    return [value, ...WORD_LISTS.test(claim) ? value.split(' ') : []].some((text) => anyOf.includes(text))
  }
  if (typeof value === 'boolean' || typeof value === 'number') return anyOf.includes(String(value))
  return Array.isArray(value) && value.some((item) => anyOf.includes(item))
}

/** Entra says of more than 200 groups only where they are: OpenID Connect Core 1.0, section 5.6.2. */
function isLeftOut (claim: string, claims: Claims): boolean {
  const sources = claims['_claim_names']
  return claims[claim] === undefined && typeof sources === 'object' && sources !== null &&
    Object.hasOwn(sources, claim)
}

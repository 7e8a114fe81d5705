// Judges what an authorization server says about a token. RFC 7662, section 2.2.

import type { IntrospectionResponse } from 'oauth4webapi'
import { AuthenticationError, TokenNotKnown } from './authentication-error.ts'
import { CLOCK_LEEWAY_MS } from './clock-leeway.ts'
import type { Principal } from './principal.ts'
import { toPrincipal } from './token-principal.ts'
import type { TokenRules } from './token-rules.ts'

export interface ExpectedAnswer {
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly rules: TokenRules
  readonly nowMs: number
}

/** Throws an AuthenticationError. It is a TokenNotKnown if the token may be another server's. */
export function readIntrospectionAnswer (
  answer: IntrospectionResponse, { issuer, audiences, rules, nowMs }: ExpectedAnswer
): Principal {
  const { active, iss, aud, exp, nbf } = answer
  if (!active) throw new TokenNotKnown(`${issuer} says that the token is not active`)
  if (iss !== undefined && iss !== issuer) throw refuse('it has another issuer')
  const names = typeof aud === 'string' ? [aud] : aud
  if (names !== undefined && !(Array.isArray(names) && names.some((name) => audiences.includes(name)))) {
    throw refuse('it is for another audience')
  }
  if (exp !== undefined && !(toMs(exp) > nowMs - CLOCK_LEEWAY_MS)) throw refuse('it has expired')
  if (nbf !== undefined && !(toMs(nbf) <= nowMs + CLOCK_LEEWAY_MS)) throw refuse('it is not valid yet')
  return toPrincipal(answer, issuer, rules)
}

/** NaN for what is no number, so that each comparison with it is false. */
function toMs (seconds: unknown): number {
  return typeof seconds === 'number' ? seconds * 1000 : NaN
}

function refuse (reason: string): AuthenticationError {
  return new AuthenticationError('invalid_token', `the token is active, and not accepted: ${reason}`)
}

// Whose failures count as one.

import { isAnonymous, type Principal } from '../access/principal.ts'

/**
 * A subject is one caller, whatever clients it uses, and all anonymous callers are one: clients and addresses
 * are easy to have many of.
 */
export function blamedOf (principal: Principal): string {
  const { issuer, subject, clientId } = principal
  return isAnonymous(principal) ? 'anonymous' : JSON.stringify([issuer, subject ?? { clientId }])
}

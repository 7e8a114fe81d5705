// Whose failure it is that a call has no answer: no caller may open the circuit for others.

import { isAnonymous, type Principal } from '../access/principal.ts'
import { CallError } from './call-error.ts'

interface Blamed {
  /** The caller whose failures count as one. */
  readonly source: string | undefined
  readonly error: unknown
}

/**
 * Returns what the circuit learns of the end of a call. Without a source the failure counts by itself.
 * `undefined` if it says nothing of the upstream: the handler or its request has stopped the call.
 * @param isUnread whether more has come than the handler has read.
 */
export function findBlamed (error: unknown, principal: Principal, isUnread: boolean): Blamed | undefined {
  if (!(error instanceof CallError)) return undefined
  const { code, cause, isOfEverybody } = error
  if (code === 'unreachable') return { source: isOfEverybody ? undefined : sourceOf(principal), error: cause }
  return code === 'timeout' && !isUnread ? { source: sourceOf(principal), error } : undefined
}

/**
 * A subject is one caller, whatever clients it uses, and all anonymous callers are one: clients and addresses
 * are easy to have many of.
 */
export function sourceOf (principal: Principal): string {
  const { issuer, subject, clientId } = principal
  return isAnonymous(principal) ? 'anonymous' : JSON.stringify([issuer, subject ?? { clientId }])
}

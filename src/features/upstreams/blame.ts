// Whose failure it is that a call has no answer, and whose place a call takes: no caller may open the circuit
// for others, or take all places.

import { isAnonymous, subjectOf } from '../../platform/access/principal.ts'
import type { Failure } from '../../base/circuit-breaker.ts'
import type { UpstreamCaller } from '../../catalog/compiled/upstreams/open-upstream.ts'
import { holderOf, networkOf, type Holder } from '../../platform/limits/holder.ts'
import { CallError } from './call-error.ts'

/** This many failures in a row open the circuit. */
export const FAILURES = 5
/** A failure to connect, which no arguments cause, counts this often for one holder. Others count once. */
const MOST_CONNECTIONS = 3

/** What is known of a call that failed. */
export interface FailedCall {
  /** Whether there was a connection for the request. */
  readonly isConnected: boolean
  /** Whether more has come than the handler has read. */
  readonly isUnread: boolean
}

/**
 * Returns what the circuit learns of the end of a call. `undefined` if it says nothing of the upstream: the
 * handler or its request has stopped the call.
 */
export function findFailure (
  error: unknown, caller: UpstreamCaller, { isConnected, isUnread }: FailedCall
): Failure | undefined {
  if (!(error instanceof CallError)) return undefined
  const { code, cause, isOfEverybody } = error
  if (code === 'timeout') {
    // A handler may give a call a time that is too short to connect.
    return isUnread ? undefined : { ...answerFailure(error, caller), isOwn: !isConnected }
  }
  if (code !== 'unreachable') return undefined
  if (!isOfEverybody) return answerFailure(cause, caller)
  const maxCount = caller.isService === true ? FAILURES : MOST_CONNECTIONS
  return { error: cause, witness: circuitHolderOf(caller), most: maxCount, isOwn: true }
}

/**
 * Returns a failure that the arguments of the caller may have caused. All anonymous callers are one witness:
 * networks are easy to have many of.
 */
export function answerFailure (error: unknown, caller: UpstreamCaller): Failure {
  const { isService = false, sender: { principal } } = caller
  const witness = !isService && isAnonymous(principal) ? 'anonymous' : circuitHolderOf(caller)
  return { error, witness, most: isService ? FAILURES : 1, isOwn: false }
}

/** Returns the subject, whatever clients it uses, or the network of an anonymous caller. */
export function circuitHolderOf ({ isService, sender }: UpstreamCaller): string {
  if (isService === true) return 'service'
  const { principal } = sender
  return isAnonymous(principal) ? `network ${networkOf(sender) ?? 'local'}` : subjectOf(principal)
}

/** Returns who holds a share of the places: a subject has one, whatever clients it uses. */
export function placeHolderOf ({ sender }: UpstreamCaller): Holder | undefined {
  const holder = holderOf(sender)
  return holder?.kind === 'principal' ? { kind: 'principal', name: subjectOf(sender.principal) } : holder
}

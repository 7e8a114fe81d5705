// Writes one line to the audit log for each call, each read, each sign-in and each refusal.

import { LRUCache } from 'lru-cache'
import { isAnonymous, ownerOf, type Principal } from '../access/principal.ts'
import type { Ending, GivenArguments, Observed, Observer } from '../dispatch/observer.ts'
import { INTERNAL_ERROR, LimitReached, type ProtocolError } from '../protocol/errors.ts'
import { redact } from './redaction.ts'

export type WriteAuditLine = (line: object) => void

/** The methods that use a primitive of the catalog. A list is not a read. */
const EVENTS: ReadonlyMap<string | undefined, string> = new Map([
  ['tools/call', 'call'], ['prompts/get', 'read'], ['resources/read', 'read']
])

/** Sign-ins that are remembered. A principal that was forgotten signs in again. */
const MAX_SIGN_INS = 10_000
/** A proxy may name an address of any length. */
const MAX_ADDRESS_LENGTH = 100

export function createAuditObserver (write: WriteAuditLine): Required<Observer> {
  /** The addresses of the senders of requests in progress. */
  const addresses = new WeakMap<Observed, string>()
  const signedIn = new LRUCache<string, true>({ max: MAX_SIGN_INS })

  /** The first request of a principal with an access token, as far as its expiry tells tokens apart. */
  function noteSignIn (observed: Observed, principal: Principal, address: string | undefined): void {
    const key = `${ownerOf(principal)} ${principal.expiresAt}`
    if (signedIn.get(key) === true) return
    signedIn.set(key, true)
    const { subject, clientId, issuer } = principal
    write({
      event: 'sign-in', outcome: 'ok', subject, clientId, issuer, address, requestId: observed.requestId
    })
  }

  return {
    begin (observed, { principal, address }) {
      const from = address?.slice(0, MAX_ADDRESS_LENGTH)
      if (from !== undefined) addresses.set(observed, from)
      if (!isAnonymous(principal)) noteSignIn(observed, principal, from)
    },
    end (observed, ending) {
      const outcome = toOutcome(observed, ending)
      const event = EVENTS.get(observed.method) ?? (isRefusal(observed, outcome) ? 'refusal' : undefined)
      if (event === undefined) return
      const { requestId, traceId, method, subject: name, principal, revision, refused, given } = observed
      const { status, protocolError, durationMs } = ending
      write({
        event,
        outcome,
        method,
        name,
        arguments: given && keptArguments(given),
        unknownArguments: given && countUnknown(given),
        subject: principal?.subject,
        clientId: principal?.clientId,
        issuer: principal?.issuer,
        address: addresses.get(observed),
        ...refused,
        revision,
        status,
        code: protocolError?.code,
        durationMs: Math.round(durationMs * 100) / 100,
        requestId,
        traceId
      })
    }
  }
}

function isRefusal ({ refused }: Observed, outcome: string): boolean {
  return refused !== undefined || outcome === 'denied' || outcome === 'limited'
}

function toOutcome ({ special, isToolError }: Observed, { isCancelled, protocolError }: Ending): string {
  if (isCancelled) return 'cancelled'
  if (special !== undefined) return special
  if (protocolError !== undefined) return toErrorOutcome(protocolError)
  return isToolError ? 'tool_error' : 'ok'
}

function toErrorOutcome (error: ProtocolError): string {
  if (error instanceof LimitReached) return 'limited'
  if ([401, 403].includes(error.httpStatus)) return 'denied'
  return error.code === INTERNAL_ERROR || error.httpStatus >= 500 ? 'failed' : 'invalid'
}

function keptArguments ({ rule, args }: GivenArguments): unknown {
  if (args === undefined) return undefined
  if (rule.hasValues) return redact(args, rule.secretNames)
  return Object.keys(args).filter((name) => rule.names.has(name))
}

/** A name that the definition does not have is the client's own text, so it is only counted. */
function countUnknown ({ rule, args }: GivenArguments): number | undefined {
  if (args === undefined || rule.hasValues) return undefined
  const { length } = Object.keys(args).filter((name) => !rule.names.has(name))
  return length === 0 ? undefined : length
}

// The errors of calls: their messages are for models and say no cause.

import { AddressRefused } from '../../platform/access/checked-lookup.ts'
import { UpstreamError, type UpstreamErrorCode } from '../../platform/author/upstream-error.ts'
import { codeOf, messageOf, toDuration } from '../../base/words.ts'
import { CredentialError, type CredentialFailure } from './credentials/credential.ts'
import { toTransportError } from './transport-error.ts'

/** An UpstreamError, and its cause for the log. */
export class CallError extends Error {
  readonly code: UpstreamErrorCode
  readonly failure: CredentialFailure | undefined
  /** Whether no request was sent: whoever had called would have failed. */
  isOfEverybody = false

  constructor (code: UpstreamErrorCode, cause: unknown, failure?: CredentialFailure) {
    super(code, { cause })
    this.code = code
    this.failure = failure
  }

  /** Whether there is no credential for this caller, and there may be one for others. */
  get isOfCaller (): boolean { return this.failure === 'caller' || this.failure === 'refused' }
}

/** The upstream has done the request, and its answer is at another place: RFC 9110, section 15.4.4. */
export class AnsweredElsewhere extends CallError {
  constructor () {
    super('redirected', new Error('status 303 is not followed: the request was done'))
  }
}

/** Thrown by the stand-in of an upstream in a test. Its author gets it as it is. */
export class StandInError extends Error {
  override readonly name = 'StandInError'
}

const LATER = 'Try again later.'

/** Makes the error for the handler. @param timeoutMs the time that the call had. */
export function toUpstreamError (
  error: CallError, name: string, timeoutMs: number
): UpstreamError {
  const { code, failure } = error
  const description = error instanceof AnsweredElsewhere
    ? 'did what it was asked to, and refers to another place for its answer, which is not asked. ' +
      'The same call does it again.'
    : describe(code, failure, timeoutMs)
  return new UpstreamError(code, name, `The service ${name} ${description}`)
}

function describe (
  code: UpstreamErrorCode, failure: CredentialFailure | undefined, timeoutMs: number
): string {
  switch (code) {
    case 'timeout': return `did not answer within ${toTime(timeoutMs)}. ${LATER}`
    case 'unreachable': return `could not be reached, or broke off its answer. ${LATER}`
    case 'busy': return `has too many calls at once. ${LATER}`
    case 'unavailable': return `has failed several times, and is not asked for some seconds. ${LATER}`
    case 'too_large': return 'answered with more than can be read. Ask for less.'
    case 'wrong_type': return 'answered in a form that cannot be read. The same call fails again.'
    case 'redirected': return 'refers to another place, which is not asked. The same call fails again.'
    case 'refused': return 'may not be called from here. The same call fails again.'
    case 'credential': return describeCredential(failure)
  }
}

function describeCredential (failure: CredentialFailure | undefined): string {
  switch (failure) {
    case 'caller': return 'must know which user calls. The user must sign in, and call again.'
    case 'refused':
      return 'cannot be called for this user: access was refused. The user may have to sign in again, or ' +
        'needs access there.'
    default: return `cannot be called now: signing in there failed. ${LATER}`
  }
}

function toTime (ms: number): string {
  return ms < 1000 ? `${ms} ms` : toDuration(ms)
}

export function credentialFailed (error: CredentialError): CallError {
  const { failure, message, cause } = error
  const withoutSecrets = cause === undefined
    ? error
    : new CredentialError(failure, message, { cause: toTransportError(cause) })
  return new CallError('credential', withoutSecrets, failure)
}

/** The connection failed, or was lost: another attempt may succeed. */
const PASSING: ReadonlySet<unknown> = new Set([
  'ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND',
  'EPIPE', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET'
])

export function mayPass ({ code, cause }: CallError): boolean {
  return code === 'unreachable' && PASSING.has(codeOf(cause))
}

/** undici refuses what the handler asks for, and has sent nothing. */
const NOT_SENT: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])

/**
 * Turns an error of the transport into one of a call.
 * @param isConnected whether there was a connection for the request.
 */
export function toCallError (error: unknown, isConnected: boolean): CallError | StandInError | TypeError {
  if (error instanceof CallError || error instanceof StandInError) return error
  if (error instanceof AddressRefused) return new CallError('refused', error)
  if (NOT_SENT.has(codeOf(error))) return new TypeError(`fetch: the call cannot be sent: ${messageOf(error)}`)
  const failure = new CallError('unreachable', toTransportError(error))
  failure.isOfEverybody = !isConnected
  return failure
}

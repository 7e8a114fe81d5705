// Why a service cannot be reached, in words that say what to do.

import { toError, toPlain } from '../../../base/words.ts'
import { CommandError } from '../command.ts'

interface Details { readonly status?: number, readonly cause?: unknown }

/** The service at a URL cannot be used. The message is for people, on one line. */
export class ConnectionError extends CommandError {
  override readonly name = 'ConnectionError'
  /** The status of an HTTP error. */
  readonly status: number | undefined

  constructor (message: string, { status, cause }: Details = {}) {
    super('connection', message)
    if (cause !== undefined) this.cause = cause
    this.status = status
  }
}

const ADVICE: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nothing listens there; start the service, or correct the URL',
  ENOTFOUND: 'no machine has this name; correct the URL',
  EAI_AGAIN: 'the name cannot be looked up now; check the network',
  ECONNRESET: 'the connection was cut; see the log of the service or of the proxy before it',
  UND_ERR_SOCKET: 'the connection was cut; see the log of the service or of the proxy before it',
  UND_ERR_CONNECT_TIMEOUT: 'no answer; check the network and the port',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; set NODE_EXTRA_CA_CERTS to its file',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate authority is not known; set NODE_EXTRA_CA_CERTS to its file',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified; set NODE_EXTRA_CA_CERTS to its file',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; use http:// for this address'
}

/** @param error of `fetch`, or of reading the body. */
export function toConnectionError (url: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error
  const cause = findCause(error)
  const code = 'code' in cause ? String(cause.code) : ''
  const advice = ADVICE[code]
  const reason = advice === undefined ? cause.message || code || 'the request failed' : `${advice} (${code})`
  return new ConnectionError(`Cannot use ${url}: ${reason}`, { cause: error })
}

/**
 * Returns the error for somebody at a terminal. The types of what a service sends are only claimed: code that
 * meets another type, or an endless depth, throws a TypeError or a RangeError.
 */
export function toAnswerError (url: string, error: unknown): unknown {
  if (!(error instanceof TypeError || error instanceof RangeError)) return error
  const problem = error instanceof RangeError
    ? 'is nested too deep'
    : 'is not one that MCP allows: a part of it is missing, or of another type'
  return new ConnectionError(`Cannot use ${url}: its answer ${problem}`, { cause: error })
}

/** `fetch` wraps the error of the connection, and may wrap one for each address. */
function findCause (error: unknown): Error {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0]
  if (error instanceof Error && error.cause instanceof Error) return findCause(error.cause)
  return toError(error)
}

/** @param detail the message of the answer, if it has one. */
export function toStatusError (url: string, status: number, detail: string | undefined): ConnectionError {
  const reason = detail === undefined ? '' : `: ${toPlain(detail)}`
  const advice = toStatusAdvice(status)
  return new ConnectionError(`Cannot use ${url}: it answers ${status}${reason}${advice}`, { status })
}

function toStatusAdvice (status: number): string {
  if (status === 401) return '; give a valid access token with --token-file or TRIVET_TOKEN'
  if (status === 403) return '; the token may lack a scope, or the service does not answer to this host name'
  if (status === 404 || status === 405) return '; name the path of its MCP endpoint, such as /mcp'
  if (status >= 300 && status < 400) return '; use the URL that it redirects to'
  return ''
}

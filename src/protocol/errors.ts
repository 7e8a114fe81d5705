// Every error of the protocol, one factory each: code, HTTP status and words are decided here and nowhere else.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes

import type { ClientCapabilities } from './capabilities.ts'
import { SUPPORTED_REVISIONS } from './revisions.ts'

export interface ProtocolErrorDetails {
  /** What the client may know beyond the message; goes on the wire. */
  data?: unknown
  /** Why it happened; goes to the log only. */
  cause?: unknown
  /** The HTTP status that the specification ties to this failure; 200 where it names none. */
  httpStatus?: number
}

/** A failure that is answered with a JSON-RPC error. */
export class ProtocolError extends Error {
  readonly code: number
  readonly data: unknown
  readonly httpStatus: number

  constructor (code: number, message: string, details: ProtocolErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {})
    this.name = 'ProtocolError'
    this.code = code
    this.data = details.data
    this.httpStatus = details.httpStatus ?? 200
  }
}

/** What a client sent is quoted no longer than a sentence bears. */
function clip (text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

export const parseError = (cause: unknown) =>
  new ProtocolError(-32700, 'Parse error: the body is not valid JSON in UTF-8', { cause, httpStatus: 400 })

export const invalidRequest = (complaint: string, httpStatus = 400) =>
  new ProtocolError(-32600, `Invalid request: ${complaint}`, { httpStatus })

/** 404 with a JSON-RPC body: the body is what tells it from an endpoint that does not exist. */
export const methodNotFound = (method: string) =>
  new ProtocolError(-32601, `Method not found: ${clip(method)}`, { httpStatus: 404 })

export const invalidParams = (complaint: string, data?: unknown) =>
  new ProtocolError(-32602, `Invalid params: ${complaint}`, { data })

/** A request without the required `_meta` fields is malformed, not merely wrong: the specification gives it a 400. */
export const invalidEnvelope = (complaint: string) =>
  new ProtocolError(-32602, `Invalid params: ${complaint}`, { httpStatus: 400 })

export const unknownTool = (name: string) => invalidParams(`unknown tool ${JSON.stringify(clip(name))}`)

export const unknownPrompt = (name: string) => invalidParams(`unknown prompt ${JSON.stringify(clip(name))}`)

/** Earlier revisions have a code of their own for it. */
export class ResourceNotFound extends ProtocolError {
  constructor (uri: string) {
    super(-32602, 'Resource not found', { data: { uri } })
  }
}

export const resourceNotFound = (uri: string) => new ResourceNotFound(uri)

const HANDLER_REFUSED = 422

/** Deliberately says nothing about the cause: the log has it, the client must not. */
export const internalError = (cause: unknown) => new ProtocolError(-32603, 'Internal error', { cause })

/** A prompt or a resource cannot be had, and says why in words of its own. */
export const handlerRefused = ({ message, cause }: Error) => new ProtocolError(HANDLER_REFUSED, message, { cause })

export const stateUnavailable = (cause: unknown) =>
  new ProtocolError(503, 'State cannot be reached at the moment. Try again in a few seconds.', { cause })

export const requestTimedOut = (timeoutMs: number) =>
  new ProtocolError(-32603, `The request was stopped after ${timeoutMs} ms`)

export const requestCancelled = () => new ProtocolError(-32603, 'The request was cancelled')

/** One answer for unknown, expired, ended and somebody else's. A client that gets it starts anew. */
export const sessionNotFound = () => new ProtocolError(-32600, 'Session not found: send initialize to begin a new one', { httpStatus: 404 })

/** Somebody else served the request, and is gone. */
export const replicaLost = () =>
  new ProtocolError(-32603, 'The replica that served this request is gone. Whether it was done is not known.')

export const headerMismatch = (complaint: string) =>
  new ProtocolError(-32020, `Header mismatch: ${complaint}`, { httpStatus: 400 })

export const missingClientCapability = (requiredCapabilities: ClientCapabilities) =>
  new ProtocolError(-32021, `The client lacks a capability that this request needs: ${Object.keys(requiredCapabilities).join(', ')}`, {
    data: { requiredCapabilities },
    httpStatus: 400
  })

export const unsupportedRevision = (requested: string) => revisionError(`Unsupported protocol version ${JSON.stringify(clip(requested))}.`, requested)

/** What a client of an earlier revision gets for its `initialize`. */
export const handshakeRefused = (requested: string) => revisionError('There is no initialize handshake here: each request carries its own _meta.', requested)

function revisionError (complaint: string, requested: string): ProtocolError {
  return new ProtocolError(-32022, `${complaint} Supported: ${SUPPORTED_REVISIONS.join(', ')}`, {
    data: { supported: SUPPORTED_REVISIONS, requested },
    httpStatus: 400
  })
}

/** As are all below 1000, an application code, outside the range that JSON-RPC and MCP reserve. */
export const overloaded = (complaint: string) => new ProtocolError(503, complaint, { httpStatus: 503 })

/** @param open how many streams the replica holds */
export const tooManyStreams = (open: number) =>
  overloaded(`This replica already holds ${open} open streams, which is as many as it may. Try again later.`)

/** The resource is there, but no request may have it whole. */
export const resourceTooLarge = (uri: string, size: number, limit: number) =>
  new ProtocolError(-32602, `Resource too large: ${size} bytes, the limit is ${limit}`, { data: { uri, size, limit } })

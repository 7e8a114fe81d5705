// One factory for each error of the protocol. Codes, HTTP statuses and messages are written here only.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes

import { StacklessError } from '../../base/stackless-error.ts'
import { clip, counted, quote, toPlain } from '../../base/words.ts'
import { describeNeed, type ClientCapabilities } from './capabilities.ts'
import { SUPPORTED_REVISIONS } from './revisions.ts'

export interface ProtocolErrorDetails {
  /** Sent to the client beside the message. */
  data?: unknown
  /** Written to the log, never sent to the client. */
  cause?: unknown
  /** The HTTP status that the specification gives this error. 200 by default. */
  httpStatus?: number
}

export const INTERNAL_ERROR = -32603

/** An error that the client receives as a JSON-RPC error. Only an internal error has a stack, for the log. */
export class ProtocolError extends StacklessError {
  readonly code: number
  readonly data: unknown
  readonly httpStatus: number

  constructor (code: number, message: string, { cause, data, httpStatus = 200 }: ProtocolErrorDetails = {}) {
    super(message, cause === undefined ? {} : { cause }, code === INTERNAL_ERROR)
    this.name = 'ProtocolError'
    this.code = code
    this.data = data
    this.httpStatus = httpStatus
  }
}

/** The error of a call that has failed before. A class of its own, because the log has the cause already. */
export class EarlierFailure extends ProtocolError {}

export const parseError = (cause?: unknown) =>
  new ProtocolError(-32700, 'Parse error: the body is not valid JSON in UTF-8', { cause, httpStatus: 400 })

export const invalidRequest = (problem: string, httpStatus = 400) =>
  new ProtocolError(-32600, `Invalid request: ${problem}`, { httpStatus })

/** A 404 with a JSON-RPC body. The body tells an unknown method from an endpoint that does not exist. */
export const methodNotFound = (method: string) =>
  new ProtocolError(-32601, `Method not found: ${clip(method)}`, { httpStatus: 404 })

export const invalidParams = (problem: string, data?: unknown) =>
  new ProtocolError(-32602, `Invalid params: ${problem}`, { data })

export const invalidCursor = () =>
  invalidParams('cursor is not a cursor of this list; start again without it')

/** The specification gives a request without the required `_meta` fields a 400: it is malformed. */
export const invalidEnvelope = (problem: string) =>
  new ProtocolError(-32602, `Invalid params: ${problem}`, { httpStatus: 400 })

/**
 * Clients recognise the words "Tool … not found", and let the model correct the name.
 * @param nearest names that the client may have meant.
 */
export const unknownTool = (name: string, nearest: readonly string[]) => {
  const hint = nearest.length === 0 ? '' : `. Did you mean ${nearest.join(' or ')}?`
  return new ProtocolError(-32602, `Tool ${toPlain(clip(name))} not found${hint}`)
}

export const unknownPrompt = (name: string) => invalidParams(`unknown prompt ${quote(name)}`)

/** A class of its own, because earlier revisions have another code for this error. */
export class ResourceNotFound extends ProtocolError {
  constructor (uri: string) {
    super(-32602, `Resource not found: ${toPlain(clip(uri, 200))}`, { data: { uri } })
  }
}

/**
 * The access token lacks scopes. A class of its own, because a transport also tells the client in a header.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#runtime-insufficient-scope-
 * errors
 */
export class InsufficientScope extends ProtocolError {
  /** All scopes that the operation needs, also those that the token has. */
  readonly requiredScopes: readonly string[]
  /** The key of the primitive that needs the scopes, if one does. For the log, not for the client. */
  readonly subject: string | undefined

  // 403 is an application code: the specification has no JSON-RPC code for this error.
  constructor (requiredScopes: readonly string[], subject?: string) {
    super(403, `Insufficient scope: this needs ${requiredScopes.join(' ')}`, {
      data: { requiredScopes }, httpStatus: 403
    })
    this.requiredScopes = requiredScopes
    this.subject = subject
  }
}

/** The access token has expired. A class of its own, because a transport also has a header for the client. */
export class TokenExpired extends ProtocolError {
  constructor () {
    super(-32600, 'Invalid request: the access token has expired', { httpStatus: 401 })
  }
}

export const tokenExpired = () => new TokenExpired()
export const insufficientScope = (requiredScopes: readonly string[], subject?: string) =>
  new InsufficientScope(requiredScopes, subject)

export const resourceNotFound = (uri: string) => new ResourceNotFound(uri)

/**
 * The message says nothing about the cause. The log has the cause; the client must not learn it.
 * @param requestId the id under which the log has the cause.
 */
export const internalError = (cause: unknown, requestId: string) =>
  new ProtocolError(INTERNAL_ERROR, 'Internal error', { cause, data: { requestId } })

/** The handler of a prompt or a resource threw a ToolError. Its message is written for the client. */
export const handlerRefused = ({ message, cause }: Error) => new ProtocolError(422, message, { cause })

export const stateUnavailable = (cause: unknown) =>
  new ProtocolError(503, 'State cannot be reached at the moment. Try again in a few seconds.', { cause })

export const requestTimedOut = (timeoutMs: number) =>
  new ProtocolError(INTERNAL_ERROR, `The request was stopped after ${timeoutMs} ms`)

export const requestCancelled = () => new ProtocolError(INTERNAL_ERROR, 'The request was cancelled')

/**
 * The one answer for an unknown, expired or ended session and for a session of another caller: the client
 * must not learn which it is.
 */
export const sessionNotFound = () =>
  new ProtocolError(-32600, 'Session not found: send initialize to begin a new one', { httpStatus: 404 })

/** Another replica served the request and stopped before the answer. */
export const replicaLost = () =>
  new ProtocolError(INTERNAL_ERROR, 'The replica that served this request is gone. ' +
    'It is not known whether the request was completed.')

export const headerMismatch = (problem: string) =>
  new ProtocolError(-32020, `Header mismatch: ${problem}`, { httpStatus: 400 })

export const MISSING_CLIENT_CAPABILITY = -32021

export const missingClientCapability = (requiredCapabilities: ClientCapabilities) => new ProtocolError(
  MISSING_CLIENT_CAPABILITY,
  `The client lacks a capability that this request needs: ${describeNeed(requiredCapabilities)}`,
  { data: { requiredCapabilities }, httpStatus: 400 }
)

export const unsupportedRevision = (requested: string) =>
  revisionError(`Unsupported protocol version ${JSON.stringify(clip(requested))}.`, requested)

/** Answers `initialize` where no sessions are served. */
export const handshakeRefused = (requested: string) =>
  revisionError('This service has no initialize handshake: each request carries its own _meta.', requested)

function revisionError (problem: string, requested: string): ProtocolError {
  return new ProtocolError(-32022, `${problem} Supported: ${SUPPORTED_REVISIONS.join(', ')}`, {
    data: { supported: SUPPORTED_REVISIONS, requested },
    httpStatus: 400
  })
}

/** 503 is an application code: JSON-RPC and MCP reserve codes from -32768 to -32000 only. */
export const overloaded = (problem: string, cause?: Error) =>
  new ProtocolError(503, problem, { cause, httpStatus: 503 })

/** A limit of calls is reached. A class of its own, because a transport also tells the client in a header. */
export class LimitReached extends ProtocolError {
  /** After how many seconds the client may try again. `undefined` if the same call is always refused. */
  readonly retryAfterSeconds: number | undefined

  /**
   * Application codes, like the HTTP status: 413 if the arguments are too large, 422 if the result is, 503 if
   * the limit is that of all callers.
   */
  constructor (
    problem: string, code: 413 | 422 | 429 | 503, retryAfterSeconds?: number, cause?: Error
  ) {
    const advice = retryAfterSeconds === undefined
      ? ''
      : ` Try again in ${counted(retryAfterSeconds, 'second')}.`
    const data = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }
    super(code, problem + advice, { data, cause, httpStatus: code })
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export const limitReached = (problem: string, code: 429 | 503, retryAfterSeconds: number) =>
  new LimitReached(problem, code, retryAfterSeconds)

export const argumentsTooLarge = (limit: string) =>
  new LimitReached(`The limit is reached: ${limit}. Send less.`, 413)

/** The call was run. Not 413, which is for requests. */
export const resultTooLarge = (limit: string) =>
  new LimitReached(`The limit is reached: ${limit}. The call has run. Ask for less.`, 422)

/**
 * The request was served, and its answer is too large to wait in memory beside those that wait already. Not
 * HTTP 503: load balancers send such a request to another replica, which would serve it again.
 */
export const answerDropped = () => new ProtocolError(
  503,
  'The request was served, but its answer was dropped: too many large answers wait for slow clients. ' +
    'Try again later.',
  { httpStatus: 500 }
)

export const batchTooLarge = () => overloaded(
  'The request was not served: the batch has taken its time, or its answer is too large. Send it alone.'
)

/**
 * The resource exists, but is larger than the service may send. A class of its own, because a handler that
 * reads the resource gets another error.
 */
export class ResourceTooLarge extends ProtocolError {
  readonly #parts: readonly [string, number, number, string]

  constructor (uri: string, size: number, limit: number, unit: string, link?: string) {
    const data = { uri, size, limit, ...link !== undefined && { link } }
    const advice = link === undefined ? '' : `. Download it from ${link}`
    super(-32602, `Resource too large: ${size} ${unit}, the limit is ${limit}${advice}`, { data })
    this.#parts = [uri, size, limit, unit]
  }

  /** The same error with the URL of a download. */
  withLink (link: string): ResourceTooLarge {
    return new ResourceTooLarge(...this.#parts, link)
  }
}

export const resourceTooLarge = (uri: string, size: number, limit: number, unit = 'bytes') =>
  new ResourceTooLarge(uri, size, limit, unit)

/**
 * The one answer for an unknown and an expired task and for that of another caller. A class of its own,
 * because the tool that continues calls tells a model.
 */
export class UnknownTask extends ProtocolError {
  constructor () {
    super(-32602, 'Task not found: it never existed, has expired, or belongs to another caller')
  }
}

export const unknownTask = () => new UnknownTask()

/**
 * The task exists, and this replica cannot read it: a newer release has written it. Or its handler runs in an
 * earlier release, which would drop an answer. A class of its own, because the service leaves such a task to
 * others.
 */
export class TaskNotReadable extends ProtocolError {
  constructor () { super(503, 'The task cannot be reached at the moment. Try again in a few seconds.') }
}

export const taskNotReadable = () => new TaskNotReadable()

/** @param limit in bytes. */
export const taskAnswersTooLarge = (limit: number) => new LimitReached(
  `The limit is reached: the answers and the results of the steps of a task may take ${limit} bytes of JSON.`,
  413
)

export const tooManyQuestions = (limit: number) => new LimitReached(
  `The limit is reached: a task may ask ${limit} questions. One whose answer does not fit counts again.`, 429
)

export const taskExpired = (ttlMs: number) =>
  new ProtocolError(INTERNAL_ERROR, `The task did not end within ${ttlMs} ms and was stopped`)

/** The task may be what ends its replicas. */
export const taskPoisoned = (losses: number) => new ProtocolError(
  INTERNAL_ERROR,
  `The task was stopped: ${losses} replicas in a row were lost while they ran the same step of it`
)

/** @param difference for the log. */
export const taskChanged = (difference: string) => new ProtocolError(
  INTERNAL_ERROR,
  'The task was stopped: its tool does not do what it did before. ' +
    'It is not known how much of the work was done.',
  { cause: new Error(difference) }
)

/** The replica that ran the task is gone, and the tool must not run again. */
export const taskInterrupted = (cause: string) => new ProtocolError(
  INTERNAL_ERROR,
  `${cause} while the task ran, and its tool does not run again by itself. ` +
    'It is not known how much of the work was done.'
)

/** The code of the tool has changed, and its tasks must not go on in other code. */
export const taskOutdated = () => new ProtocolError(
  INTERNAL_ERROR,
  'The tool has changed since the task began, and the task does not go on with the new one. ' +
    'It is not known how much of the work was done.'
)

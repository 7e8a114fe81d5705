// What a test may choose: settings, the caller, and the answers of one call.

import type { Principal } from '../../platform/access/principal.ts'
import type { AppOptions } from '../../app/app.ts'
import type { ClientCapabilities } from '../../platform/protocol/capabilities.ts'
import type { Implementation } from '../../platform/protocol/primitives.ts'
import type { TestAnswer, TestQuestion } from './question.ts'
import type { UpstreamAnswers } from './upstreams.ts'

/**
 * The settings of docs/settings.md that decide how a catalog is served, with names in camel case. Each has
 * its usual default, but `logLevel` is `silent` and `maxCallsPerCaller` is `off`.
 */
export interface TestOptions extends Pick<
  AppOptions,
  'logLevel' | 'requestTimeoutMs' | 'requestStateTtlMs' | 'maxResourceBytes' | 'maxFileBytes' |
  'maxFileBytesPerCaller' | 'maxCallsPerCaller' | 'maxRunningPerCaller' | 'maxHandlesPerCaller' |
  'maxTasksPerCaller'
> {
  /**
   * How long a client without tasks waits for a call of a tool with `task`, in milliseconds, until its model
   * is told how to continue it: below `requestTimeoutMs`. 1000 by default, or less if that is shorter.
   */
  taskWaitMs?: number
  /** The time after which a call of a tool with `task` becomes a task, in milliseconds. 1000 by default. */
  taskGraceMs?: number
  /** Receives the log of the service instead of standard output: any logger with the methods of pino. */
  logger?: NonNullable<AppOptions['logger']>
  /**
   * The values of settings by name, instead of environment variables. `NAME_FILE` names a file with the value
   * of `NAME`. None by default: a setting that is required must be here.
   */
  settings?: { readonly [name: string]: string | number | boolean | undefined }
  /**
   * What upstreams answer, by name, as `answer` of `catalog.upstream` has it. Only the `list` of a template
   * needs them here: it is called while the catalog is loaded. None by default.
   */
  upstreams?: { readonly [upstream: string]: UpstreamAnswers }
}

/**
 * The identity of a caller, as an access token would say it. A caller with a `subject` or a `clientId` is a
 * named one; each combination of `issuer`, `subject` and `clientId` has its own handles.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export interface TestPrincipal extends Omit<Principal, 'scopes'> {
  /** The granted scopes. None by default. */
  readonly scopes?: readonly string[]
}

/** The caller, and its host. */
export interface TestCallerOptions extends TestPrincipal {
  /**
   * `plain` for a host whose client has neither tasks nor elicitation, as most have: it declares nothing. Its
   * calls are continued with the tool `continue_call`, as the text of the result tells its model, and forms
   * of a tool with `relayQuestions` are answered there. By default a client that can do everything.
   */
  readonly host?: 'plain'
}

/**
 * What the client of a caller declares in each request.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
 */
export interface TestClient {
  /**
   * All capabilities by default, and none in a plain host. A question to a client that lacks its capability
   * fails with error -32021, unless the tool relays it.
   */
  readonly capabilities?: ClientCapabilities
  /** `{ name: 'trivet/testing', version: '1.0.0' }` by default. */
  readonly info?: Implementation
}

/** What the client does while its request is served. */
export interface AnswerOptions {
  /**
   * The answers to questions of the handler, under the keys of its `ctx.ask`. Each is used once. The request
   * rejects with an AnswerError if one is not used.
   */
  readonly answers?: { readonly [key: string]: TestAnswer }
  /**
   * Called with each question that `answers` does not have. `undefined` leaves the question without an
   * answer: the request then rejects with a QuestionError.
   */
  readonly answer?: (question: TestQuestion) => TestAnswer | undefined | Promise<TestAnswer | undefined>
  /** Sent in the `_meta` of each round, beside what every request has there. None by default. */
  readonly meta?: { readonly [key: string]: unknown }
  /** The client leaves when this signal aborts: the request then rejects with a RequestError. */
  readonly signal?: AbortSignal
}

/** What a client does while its call of a tool is served, and what it sends with the call. */
export interface TestCallOptions extends AnswerOptions {
  /** The header `Idempotency-Key`. A tool with `dedupe` gives a repeated key the first answer again. */
  readonly idempotencyKey?: string
}

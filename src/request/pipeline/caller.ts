// The caller of a request and the outlet for its answer. The pipeline knows nothing else of a transport.

import type { Principal } from '../../platform/access/principal.ts'
import type { Sender } from '../../platform/limits/holder.ts'
import type { Envelope } from '../../platform/protocol/envelope.ts'
import type { ProtocolError } from '../../platform/protocol/errors.ts'
import type { LogLevel } from '../../platform/protocol/log-levels.ts'
import type { Progress } from '../../platform/protocol/notifications.ts'
import type { MessageSink } from '../../platform/store/changes/message-sink.ts'
import type { Watcher } from './lifetimes.ts'

/** The part of the service's log that a request uses. */
export interface RequestLog {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

/** `traceparent` and `tracestate` name the sender's span, `idempotency-key` the call. None is checked. */
export interface RequestHeaders { readonly [name: string]: unknown }

export interface Caller extends Sender {
  readonly envelope: Envelope
  /** The id of the request in the service's log. */
  readonly requestId: string
  readonly log: RequestLog
  /**
   * The value of a header that mirrors a part of the body. Throws a header mismatch when the header came
   * twice. Absent for a transport without such headers.
   */
  mirror? (header: string): string | undefined
  /** Absent for a request without a session. The id of a request is unique in its session. */
  readonly sessionId?: string
  /** Absent for a transport without headers. */
  readonly headers?: RequestHeaders
}

/** What a transport knows about a request. */
export interface RequestSource extends Sender {
  readonly id: string
  readonly log: RequestLog
  readonly headers: RequestHeaders
}

/** The caller of a request that came over HTTP. */
export class HttpCaller implements Caller {
  readonly principal: Principal
  readonly envelope: Envelope
  readonly requestId: string
  readonly log: RequestLog
  readonly #source: RequestSource

  constructor (source: RequestSource, envelope: Envelope) {
    this.principal = source.principal
    this.envelope = envelope
    this.requestId = source.id
    this.log = source.log
    this.#source = source
  }

  get address (): string | undefined { return this.#source.address }
  get headers (): RequestHeaders { return this.#source.headers }
}

/**
 * Sends the answer of one request. The pipeline calls exactly one of `succeed`, `openStream`, `fail` and
 * `leaveUnanswered`, once.
 */
export interface Outlet extends Watcher {
  /**
   * Sends a notification before the answer.
   * @param level the level of a log message. `undefined` for any other notification.
   */
  notify (json: string, level?: LogLevel): void
  /** Takes the progress of the request, in place of notifications. */
  progress? (progress: Progress): void
  /** Closes the connection while the request continues. Absent when the client cannot reconnect. */
  disconnect? (retryMs: number): void
  /** @param result the result as JSON. */
  succeed (result: string | Buffer): void
  /** Begins an answer that is a stream of messages. */
  openStream (): MessageSink
  fail (error: ProtocolError): void
  /** Ends a request that the client has cancelled: it gets no answer. */
  leaveUnanswered (): void
  /** Whether other answers are sent with that of the request, and wait for it. */
  readonly isAwaited?: boolean
  /** The HTTP status of the answer. Absent for a transport without statuses. */
  readonly status?: number | undefined
}

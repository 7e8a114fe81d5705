// Who sent a message, and where the answer goes: all that the pipeline knows of a transport.

import type { Principal } from '../access/principal.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type { ProtocolError } from '../protocol/errors.ts'
import type { LogLevel } from '../protocol/log-levels.ts'
import type { MessageSink } from '../events/message-sink.ts'
import type { Watcher } from './lifetimes.ts'

/** The service's log, as far as a request uses it. */
export interface RequestLog {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

export interface Caller {
  readonly principal: Principal
  readonly envelope: Envelope
  /** The id under which the log has the request. */
  readonly requestId: string
  readonly log: RequestLog
  /**
   * The value of a header that mirrors a part of the body; throws a header mismatch where it came twice.
   * Absent where the transport mirrors nothing.
   */
  mirror? (header: string): string | undefined
}

/**
 * Where one request is answered. Exactly one of `succeed`, `openStream`, `fail` and `leaveUnanswered` is
 * called, once.
 */
export interface Outlet extends Watcher {
  /**
   * Sends a notification ahead of the answer.
   * @param level of a log message
   */
  notify (json: string, level?: LogLevel): void
  /** Closes the connection while the request goes on, where the client can come back for the answer. */
  disconnect? (retryMs: number): void
  /** @param result as JSON */
  succeed (result: string | Buffer): void
  /** For an answer that is a stream of messages. */
  openStream (): MessageSink
  fail (error: ProtocolError): void
  /** For a request that its client has cancelled. */
  leaveUnanswered (): void
  /** The HTTP status of the answer, where there is one. */
  readonly status?: number | undefined
}

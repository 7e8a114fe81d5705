// The recent events of streams. A client whose connection broke reconnects and gets the events that it
// missed.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

import type { Shareholder } from '../../limits/share.ts'

export interface LoggedEvent {
  /** Counts from 1, without gaps. The first events of a long stream are dropped. */
  readonly position: number
  readonly text: string
}

/**
 * Each stream has a maximum number of events and a lifetime. New events replace the oldest ones. All streams
 * together have a limit of bytes.
 */
export interface EventLog {
  /**
   * Events must be appended in the order of their positions. Only the replica that serves a stream appends to
   * it. If that replica is lost, another one may take over.
   *
   * @param shareholder who the stream is for: its streams have a share of the log's bytes on each replica.
   */
  append (stream: string, event: LoggedEvent, shareholder?: Shareholder): Promise<void>
  /** The events after the position; `undefined` for a stream that is unknown or has expired. */
  read (stream: string, after: number): Promise<LoggedEvent[] | undefined>
  /** Idempotent. */
  close (): Promise<void>
}

export interface EventLogLimits {
  /** How many events of one stream are kept. */
  readonly maxEvents: number
  /** How long a stream is kept after its last event, in milliseconds. */
  readonly ttlMs: number
}

/** The limits of every backend. */
export const EVENT_LOG_LIMITS: EventLogLimits = { maxEvents: 1000, ttlMs: 600_000 }

// The events of streams, for clients whose connection broke and who ask for the rest.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

export interface LoggedEvent {
  /** From 1. Positions have no gaps, but the first ones of a long stream are missing. */
  readonly position: number
  readonly text: string
}

/** Each stream is limited in its number of events and in its lifetime. New events replace the oldest. */
export interface EventLog {
  /**
   * Positions are appended in order. Only the replica that serves a stream appends to it, or a replica that
   * takes a stream over from one that is gone.
   */
  append (stream: string, event: LoggedEvent): Promise<void>
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

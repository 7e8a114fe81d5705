// What was sent on the streams of calls, for clients whose connection broke and who ask for the rest.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

export interface LoggedEvent {
  /** From 1, without gaps but where the log was cut short. */
  readonly position: number
  readonly text: string
}

/** Bounded, in what one stream takes and in how long it is kept: old events give way to new ones. */
export interface EventLog {
  /** Only the one who serves a stream appends to it, in order, or who has found that nobody serves it any more. */
  append (stream: string, event: LoggedEvent): Promise<void>
  /** The events after the position; `undefined` where nothing is known of the stream, or nothing any more. */
  read (stream: string, after: number): Promise<LoggedEvent[] | undefined>
  close (): void
}

export interface EventLogLimits {
  /** How many events of a stream are kept. */
  readonly maxEvents: number
  /** How long after its last event a stream is kept, in milliseconds. */
  readonly ttlMs: number
}

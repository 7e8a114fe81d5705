// A stream of messages to a client, independent of the transport.

/** One open stream of messages to one client. */
export interface MessageSink {
  /** Sends one message, as JSON. Does nothing once the stream has ended. */
  send (json: string): void
  /** Sends bytes that carry no message, so that proxies do not close an idle stream. */
  keepAlive (): void
  /** Sends the last message, if any, and ends the stream. */
  end (json?: string): void
  /** Closes the connection without a last message. */
  cut (): void
  /** Whether messages are waiting because the client does not read. */
  readonly isBlocked: boolean
  /** Calls the listener each time the waiting messages have been sent. */
  onDrain (listener: () => void): void
  /**
   * Calls the listener once, when the stream is closed. `isComplete` says whether the last message was sent.
   */
  onClose (listener: (isComplete: boolean) => void): void
}

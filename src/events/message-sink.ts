// Where a handler's messages go, whatever carries them.

/** One open stream of messages to one client. */
export interface MessageSink {
  /** Sends one message, as JSON. Does nothing once the stream has ended. */
  send (json: string): void
  /** Tells whatever is between here and the client that the stream is alive. */
  keepAlive (): void
  /** Sends the last message, if there is one, and ends the stream. */
  end (json?: string): void
  /** Cuts the stream off without a last message. */
  cut (): void
  /** Whether messages are waiting because the client does not take them. */
  readonly isBlocked: boolean
  /** Calls the listener each time that waiting messages have gone out. */
  onDrain (listener: () => void): void
  /**
   * Calls the listener once, when the stream is closed. `isComplete` where its last message was sent before.
   */
  onClose (listener: (isComplete: boolean) => void): void
}

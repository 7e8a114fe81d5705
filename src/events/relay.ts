// Messages between replicas. The relay does not check them: each listener checks the messages that it
// receives, and ignores unknown types.

/** A JSON object. */
export interface RelayMessage {
  readonly type: string
  readonly [member: string]: unknown
}

type RelayListener = (message: RelayMessage) => void

/** Passes messages to every replica, including this one. */
export interface Relay {
  /**
   * Calls the listeners of this replica at once. Rejects if other replicas may not have received the message.
   */
  send (message: RelayMessage): Promise<void>
  /**
   * Calls the listener once for each message sent from now on, until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (listener: RelayListener, onMissed?: () => void): () => void
  /** Ends delivery. Idempotent. Sending afterwards does nothing. */
  close (): Promise<void>
}

// Messages between replicas. The relay does not check them: each listener checks the messages that it
// receives, and ignores unknown types.

/** A JSON object. The type `messages-missed` is reserved for relays. */
export interface RelayMessage {
  readonly type: string
  readonly [member: string]: unknown
}

type RelayListener = (message: RelayMessage) => void

/** Passes messages to every replica, including this one. */
export interface Relay {
  /** Whether messages reach this replica and leave it, as far as is known. Always, in a single process. */
  readonly isConnected: boolean
  /**
   * Calls the listeners of this replica at once. Rejects if other replicas may not have received the message.
   * Their listeners are told that they missed messages as soon as they can be reached.
   */
  send (message: RelayMessage): Promise<void>
  /**
   * Calls the listener once for each message sent from now on, until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (listener: RelayListener, onMissed?: () => void): () => void
  /** The time by one clock that all replicas share, in milliseconds since the epoch. */
  time (): Promise<number>
  /** Ends delivery. Idempotent. Sending afterwards does nothing. */
  close (): Promise<void>
}

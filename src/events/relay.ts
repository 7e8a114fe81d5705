// Messages between replicas. The relay does not know what they mean: each part of the service checks those
// that it hears, and ignores the types that it does not know.

/** A value of JSON. */
export interface RelayMessage {
  readonly type: string
  readonly [member: string]: unknown
}

type RelayListener = (message: RelayMessage) => void

/** Carries messages to every replica, this one included. */
export interface Relay {
  /**
   * The listeners of this replica have heard the message. Rejects where other replicas may not have heard it.
   */
  send (message: RelayMessage): Promise<void>
  /**
   * Hears every message sent from now on, once each, until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (hear: RelayListener, onMissed?: () => void): () => void
  /** Ends delivery. Idempotent. Sending afterwards does nothing. */
  close (): Promise<void>
}

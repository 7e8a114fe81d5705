// What replicas tell each other: change events, and messages.

import type { ChangeEvent } from './change-event.ts'

/** A JSON object. Each listener checks the messages that it receives, and ignores unknown types. */
export interface ReplicaMessage {
  readonly type: string
  readonly [member: string]: unknown
}

/** Passes change events and messages to the listeners on every replica, this one included. */
export interface Broadcast {
  /** Whether both reach this replica and leave it, as far as is known. Always, in a single process. */
  readonly isConnected: boolean
  /**
   * Calls the listeners of this replica at once. Resolves after the event was sent, and does not wait for the
   * listeners of other replicas. An outage does not reject it: the other replicas get `events-missed` as soon
   * as they can be reached.
   */
  publish (event: ChangeEvent): Promise<void>
  /**
   * Calls the listener once for each event published from now on, until the returned function is called. The
   * listener gets `events-missed` when events of other replicas may have been lost.
   */
  subscribe (listener: (event: ChangeEvent) => void): () => void
  /**
   * Calls the listeners of this replica at once. Rejects if other replicas may not have received the message.
   * Their listeners are told that they missed messages as soon as they can be reached.
   */
  send (message: ReplicaMessage): Promise<void>
  /**
   * Calls the listener once for each message sent from now on, until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (listener: (message: ReplicaMessage) => void, onMissed?: () => void): () => void
  /** The time by one clock that all replicas share, in milliseconds since the epoch. */
  time (): Promise<number>
  /** Ends delivery. Idempotent. Publishing and sending afterwards do nothing. */
  close (): Promise<void>
}

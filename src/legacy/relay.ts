// What replicas must tell each other about sessions.

import type { LogLevel } from '../protocol/log-levels.ts'

/** What a client has set in its session. */
export interface Settings {
  /** Grows with each change. */
  readonly version: number
  readonly logLevel?: LogLevel
  /** The resources that it follows. */
  readonly uris: readonly string[]
}

/** The session's changes are told on this stream from now on, and on none that was opened before it, by the clocks of the replicas. */
export interface StreamOpened { readonly type: 'stream-opened', readonly session: string, readonly openedAt: number }

export type RelayMessage =
  | { readonly type: 'session-ended', readonly session: string, readonly expiresAt: number }
  | { readonly type: 'session-changed', readonly session: string, readonly settings: Settings }
  | StreamOpened
  | { readonly type: 'call-cancelled', readonly session: string, readonly request: string | number }
  /** A client's answer to a request of the service, and that somebody has it. */
  | { readonly type: 'answered', readonly session: string, readonly request: string, readonly response: unknown }
  | { readonly type: 'answer-taken', readonly session: string, readonly request: string }
  /** Somebody reads a call's stream where it was logged, and that there is more of it. */
  | { readonly type: 'stream-followed', readonly stream: string }
  | { readonly type: 'stream-written', readonly stream: string }

/** Carries messages to every replica, this one included. */
export interface Relay {
  /** Rejects where the other replicas may not have got it; this one has. */
  send (message: RelayMessage): Promise<void>
  /** @param onMissed told when messages of others may have been lost. Listens until the returned function is called. */
  listen (hear: (message: RelayMessage) => void, onMissed?: () => void): () => void
  close (): void
}

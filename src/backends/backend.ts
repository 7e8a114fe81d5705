// A backend keeps the state of the service, and carries events and messages between its replicas.

import type { EventBus } from '../events/event-bus.ts'
import type { EventLog, EventLogLimits } from '../events/event-log.ts'
import type { Relay } from '../events/relay.ts'
import type { StateStore } from '../state/state-store.ts'

export interface Backend {
  /** Of its URLs, without the colon. */
  readonly schemes: readonly string[]
  /** How its URLs look, in an error that says what TRIVET_STATE_URL must be. */
  readonly form: string
  /** What follows the scheme and its colon. `open` may refuse a URL that matches. */
  readonly rest: RegExp
  /** Whether replicas of the service share the state. */
  readonly isShared: boolean
  /** Imports the driver late: a driver loads only when its scheme is used. */
  readonly open: OpenBackend
}

/** Rejects where the backend cannot be used. The message says what to do, and never repeats a password. */
export type OpenBackend = (url: string, options: BackendOptions) => Promise<OpenedBackend>

export interface BackendOptions {
  readonly log: { warn (fields: object, message: string): void }
  /**
   * Names the service where several share one medium: those of different prefixes have different records,
   * events, messages and streams. Letters, digits, `-`, `_` and `.`.
   */
  readonly prefix: string
  /** EVENT_LOG_LIMITS by default. */
  readonly eventLogLimits?: EventLogLimits
}

export interface OpenedBackend {
  readonly store: StateStore
  readonly bus: EventBus
  readonly relay: Relay
  readonly eventLog: EventLog
  /** Closes all parts. Idempotent. */
  close (): Promise<void>
}

/** @param closeConnection called once all parts are closed. */
export function toOpenedBackend (
  parts: Omit<OpenedBackend, 'close'>, closeConnection = async (): Promise<void> => {}
): OpenedBackend {
  const { store, bus, relay, eventLog } = parts
  let closing: Promise<void> | undefined

  async function close (): Promise<void> {
    await Promise.all([bus.close(), relay.close(), eventLog.close()])
    // Waits for the calls under way, which still need the connection.
    await store.close()
    await closeConnection()
  }

  return { ...parts, close: async () => await (closing ??= close()) }
}

// The parts that every backend opens: a store of state, and what carries events and messages between
// replicas.

import type { EventBus } from '../events/event-bus.ts'
import type { EventLog, EventLogLimits } from '../events/event-log.ts'
import type { Relay } from '../events/relay.ts'
import type { StateStore } from '../state/state-store.ts'

export interface Backend {
  readonly store: StateStore
  readonly bus: EventBus
  readonly relay: Relay
  readonly eventLog: EventLog
  /** Closes all parts. Idempotent. */
  close (): Promise<void>
}

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

/**
 * @param url of a scheme that the backend serves.
 * Rejects where the backend cannot be used. The message says what to do, and never repeats a password.
 */
export type OpenBackend = (url: string, options: BackendOptions) => Promise<Backend>

/** @param closeConnection called once all parts are closed. */
export function toBackend (
  parts: Omit<Backend, 'close'>, closeConnection = async (): Promise<void> => {}
): Backend {
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

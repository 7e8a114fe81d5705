// A backend stores the state of the service, and passes changes and messages between its replicas.

import type { Clock } from '../../../base/time.ts'
import type { CallCounter } from '../../limits/call-counter.ts'
import { createLocalCallCounter } from '../../limits/local-call-counter.ts'
import type { Broadcast } from '../changes/broadcast.ts'
import {
  createLocalEventLog, EVENT_LOG_LIMITS, type EventLog, type EventLogLimits
} from '../changes/event-log.ts'
import { createLocalBroadcast } from '../changes/local-broadcast.ts'
import { createLocalDueTimes, type DueTimes } from '../records/due-times.ts'
import type { StateStore } from '../records/state-store.ts'

export interface Backend {
  /** The schemes of its URLs, without the colon. */
  readonly schemes: readonly string[]
  /** The form of its URLs, in words: completes "TRIVET_STATE_URL must be". */
  readonly form: string
  /** Matches the text after the scheme and its colon. `open` may still refuse the URL. */
  readonly rest: RegExp
  /** Whether replicas of the service share the state. */
  readonly isShared: boolean
  /** Imports the driver when it is called, so that unused drivers are not loaded. */
  readonly open: OpenBackend
  /**
   * Resolves to the SQL that makes the schema of a prefix, and gives its rights to a role. It may be applied
   * again. Absent if the backend has no schema. Rejects if there is none of this prefix.
   */
  readonly writeSchema?: (prefix: string, role?: string) => Promise<string>
}

/** Rejects if the backend cannot be used. The message says what to do, and never contains a password. */
export type OpenBackend = (url: string, options: BackendOptions) => Promise<OpenedBackend>

export interface BackendOptions {
  readonly log: { warn (fields: object, message: string): void }
  /**
   * Separates services that share one server or folder: each prefix has its own records, events, messages and
   * streams. Letters, digits, `-`, `_` and `.`.
   */
  readonly prefix: string
  /** EVENT_LOG_LIMITS by default. */
  readonly eventLogLimits?: EventLogLimits
  /** The backend of memory uses it, the others the system clock. */
  readonly clock?: Clock
  /** Ends the opening when it aborts. Used by backends that wait for a server. */
  readonly signal?: AbortSignal
}

/** A secret that is kept with the state. */
export interface KeptSecret {
  readonly secret: string
  /** Where it is kept, for the log. */
  readonly file: string
}

export interface OpenedBackend {
  readonly store: StateStore
  readonly broadcast: Broadcast
  readonly eventLog: EventLog
  /** Uses the connection of the store. Nothing of it must be closed. */
  readonly callCounter: CallCounter
  /** Uses the connection of the store. Nothing of it must be closed. */
  readonly dueTimes: DueTimes
  /** A folder in which the service may keep files too. Absent if the state is in none. */
  readonly folder?: string
  /**
   * Reads the secret that is kept with the state, and creates it if there is none. Absent if the state does
   * not outlive the process, or is shared: the replicas then get their secrets from outside.
   */
  readKeptSecret? (): KeptSecret
  /** Closes the store, the broadcast and the log. Idempotent. */
  close (): Promise<void>
}

/** Creates all parts but the store, for a backend whose state one process uses. */
export function createLocalParts (
  eventLogLimits = EVENT_LOG_LIMITS, clock: Clock = {}
): Pick<OpenedBackend, 'broadcast' | 'eventLog' | 'callCounter' | 'dueTimes'> {
  return {
    broadcast: createLocalBroadcast(),
    eventLog: createLocalEventLog({ ...eventLogLimits, ...clock }),
    callCounter: createLocalCallCounter(clock),
    dueTimes: createLocalDueTimes(clock)
  }
}

/** @param closeConnection called after all members are closed. */
export function toOpenedBackend (
  members: Omit<OpenedBackend, 'close'>, closeConnection = async (): Promise<void> => {}
): OpenedBackend {
  const { store, broadcast, eventLog } = members
  let closing: Promise<void> | undefined

  async function close (): Promise<void> {
    await Promise.all([broadcast.close(), eventLog.close()])
    // Waits for the calls in progress, which need the connection.
    await store.close()
    await closeConnection()
  }

  return { ...members, close: async () => await (closing ??= close()) }
}

import type { ChangeEvent } from './change-event.ts'

type ChangeListener = (event: ChangeEvent) => void

/** Passes change events to all listeners, on this replica and on all others. */
export interface EventBus {
  /** Whether events reach this replica and leave it, as far as is known. Always, in a single process. */
  readonly isConnected: boolean
  /** Resolves after the event was sent. It does not wait for listeners of other replicas. */
  publish (event: ChangeEvent): Promise<void>
  /** Calls the listener once for each event published from now on, until the returned function is called. */
  subscribe (listener: ChangeListener): () => void
  /** Ends delivery. Idempotent. Publishing afterwards does nothing. */
  close (): Promise<void>
}

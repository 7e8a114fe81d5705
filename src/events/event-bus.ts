import type { ChangeEvent } from './change-event.ts'

type ChangeListener = (event: ChangeEvent) => void

/** Carries change events to everyone who listens, on this replica and on every other one. */
export interface EventBus {
  /** Resolves when the event has been handed over; what listeners do with it is their own affair. */
  publish (event: ChangeEvent): Promise<void>
  /** Hears every event published from now on, once each, until the returned function is called. */
  subscribe (listener: ChangeListener): () => void
  /** Ends delivery. Idempotent. Publishing afterwards does nothing. */
  close (): Promise<void>
}

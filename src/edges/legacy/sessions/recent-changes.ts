// The most recent change events. Every replica receives all of them, so any replica can tell a client that
// reconnects which changes it missed.

import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../../platform/store/changes/change-event.ts'
import type { SharedClock } from './shared-clock.ts'

const MAX_CHANGES = 1000
/** Replicas receive an event at times that differ by this much. An event that is told twice does no harm. */
const MAX_DELAY_MS = 5000
const EVENTS_MISSED: readonly ChangeEvent[] = [{ type: 'events-missed' }]

export class RecentChanges {
  readonly #changes: Array<{ readonly at: number, readonly event: ChangeEvent }> = []
  /** This replica does not know the events before this time. */
  #knownSince: number
  readonly close: () => void

  constructor (broadcast: Broadcast, { now }: Pick<SharedClock, 'now'>) {
    this.#knownSince = now()
    this.close = broadcast.subscribe((event) => {
      // Clients are not told of it.
      if (event.type === 'resources-outdated') return
      this.#changes.push({ at: now(), event })
      if (this.#changes.length > MAX_CHANGES) this.#knownSince = this.#changes.shift()?.at ?? this.#knownSince
    })
  }

  /**
   * Returns the events that a client may have missed after `time`, by the clock that all replicas share. If
   * this replica does not know all of them, the only event is `events-missed`.
   */
  since (time: number): readonly ChangeEvent[] {
    const from = time - MAX_DELAY_MS
    if (from < this.#knownSince) return EVENTS_MISSED
    return this.#changes.filter(({ at }) => at >= from).map(({ event }) => event)
  }
}
